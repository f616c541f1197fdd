"""Cells of notebooks as plain Python: what only IPython reads does nothing, and the rest stays where it stands."""

from __future__ import annotations

import ast

import pytest

from shapedoc.core.text import split_lines
from shapedoc.source.magics import plain_python


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1\n", "pass\nx = 1\n"),
        ("!pip install torch\n", "pass\n"),
        ("!pip install \\\n  torch\nx = 1", "pass\n\nx = 1"),
        ("pip install -q torch\nconda install a::b\n", "pass\npass\n"),
        ("cd ..\ncd ~/data\nif x:\n    mkdir -p out\n", "pass\npass\nif x:\n    pass\n"),
        ("ls = 1\ncd.x = ls - 2\ncp in ls\nrm (x)\nls -n\n", "ls = 1\ncd.x = ls - 2\ncp in ls\nrm (x)\nls -n\n"),
        ("if x:\n    !ls\n    %cd ..\ny = 1", "if x:\n    pass\n    pass\ny = 1"),
        ("torch.bmm?\n?torch.bmm\ntorch.bmm??\nx[0].y?;\n", "pass\npass\npass\npass\n"),
        (",f a b\n;f a b\n/f a\n", "pass\npass\npass\n"),
        ("files = !ls *.py\nn = len(files)", "files = get_ipython()\nn = len(files)"),
        ("a.b, c = %sql select 1\n", "a.b, c = get_ipython()\n"),
        ("%time y = f(x)\n", "pass; y = f(x)\n"),
        ("%time y = f(\n    x)\nz = 1", "pass; y = f(\n    x)\nz = 1"),
        ("%timeit f(x)\n", "pass\n"),
        ("%%time\nx = 1\n", "\nx = 1\n"),
        ("\n\n%%timeit -n 10\nx = 1\n", "\n\n\nx = 1\n"),
        ("%%bash\nls $HOME\n", "\n\n"),
        ("# on Colab\n%%shell\nls $HOME\n", "\n\n\n"),
        ("%%writefile model.py\nimport torch", "\n\n"),
        ("x = 1\nx?", "x = 1\npass\n"),
        ("x = 1\r\n!ls\r\ny = 2\r\n", "x = 1\r\npass\r\ny = 2\r\n"),
    ],
)
def test_what_only_ipython_reads_does_nothing(cell: str, python: str) -> None:
    assert plain_python(cell) == python
    assert len(split_lines(python)) == len(split_lines(cell))
    ast.parse(python)


@pytest.mark.parametrize(
    "python",
    [
        "x = (a\n  % b\n  != c)\n",
        'x = """\n%magic\n!ls\nwhat?\n"""\n',
        "x = a \\\n  % b\n",
        "f(\n'''(''',  # ) what?\n% b,\n)\n",
        "x = 1  # is it %one?\n# what?\n",
        "assert x != y\nok = x == y\nz = x % y\nname = '%s!' % x\n",
        "@decorated\ndef f(): ...\n",
        "s = 'a = !b'\n",
        "x: int = 3; y = {\n  '%': 1,\n}\n",
    ],
)
def test_python_stays_as_it_is(python: str) -> None:
    ast.parse(python.replace("% b,", "1,"))
    assert plain_python(python) == python


def test_what_is_timed_may_be_left_out() -> None:
    assert plain_python("%time for x in y: f(x)\nz = 1\n", timed=False) == "pass\nz = 1\n"
