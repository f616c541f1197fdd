"""Texts for an older Python: which forms show them, and what shows that they are none."""

from __future__ import annotations

import ast

import pytest

from shapedoc.source.older import older_python
from shapedoc.source.parse import OlderPython, SourceError, parse

PYTHON_2 = (
    "print 'a', b",
    "print not x",
    'print"a"',
    "if x: print y\nelse: print z",
    "exec 'a = 1' in names",
    "try:\n    f()\nexcept (A, B), error:\n    pass",
    "try:\n    f()\nexcept A, error:\n    print error",
    "if a <> b:\n    pass",
    "x = `a` + `b`",
    "x = ur'a'",
    "x = 0777",
    "x = 10L + 0xFFL",
    "raise ValueError, 'message'",
    "raise ValueError, 'message', trace",
    "def f(a, (b, c)):\n    pass",
    "f = lambda (a, b): a",
    "if a:\n\tprint b\n        c = 1",
)


@pytest.mark.parametrize("text", PYTHON_2)
@pytest.mark.parametrize("last", ["", "\nx = (\n"])
def test_forms_of_python_2(text: str, last: str) -> None:
    with pytest.raises(OlderPython) as raised:
        parse(f"import torch\n{text}{last}")
    assert raised.value.version == "Python 2"


def test_the_place_is_the_first_form() -> None:
    with pytest.raises(OlderPython) as raised:
        parse("import torch\nx = 1\nif x <> 1:\n    print x\n")
    assert (raised.value.line, raised.value.column) == (3, 5)


@pytest.mark.parametrize(
    "text",
    [
        "x = f'{a}'",
        "x: int = 1",
        "def f(a: int): pass",
        "def f() -> int: pass",
        "def f(*, a): pass",
        "x = a @ b",
        "print(a, end='')",
        "async def f(): pass",
        "if (n := 3): pass",
        "class A(metaclass=B): pass",
        "def f():\n    yield from g()",
    ],
)
def test_a_slip_in_a_text_of_today_is_a_fault(text: str) -> None:
    for wrong in ("print 'a', b", "x = 0777"):
        with pytest.raises(SourceError) as raised:
            parse(f"{wrong}\n{text}\n")
        assert type(raised.value) is SourceError


@pytest.mark.parametrize(
    "text",
    [
        "x = 'print a'\ny = (",
        "# print a <> b\nx = = 1",
        '"""\nprint a\n"""\nif x\n    y = 1',
        "x = 08",
        "x = 1La",
        "x = u'a' 'b' = 2",
        "if a:\n\tb = 1\n        c = 1",
        "f(async=True)\nif (n := 3): pass",
        "f(async=True)\nx = (",
        "async = True",
    ],
)
def test_what_no_python_reads_is_a_fault(text: str) -> None:
    with pytest.raises(SourceError) as raised:
        parse(text)
    assert type(raised.value) is SourceError


def test_async_was_a_name() -> None:
    with pytest.raises(OlderPython) as raised:
        parse("x = x.cuda(async=True)\ny = f'{x}'\nz = z.cuda(non_blocking=0, async = True)\n")
    assert raised.value.version == "Python 3.6 or older"


def test_twenty_forms_are_enough() -> None:
    parsed = 0

    def tree_of(text: str) -> ast.Module:
        nonlocal parsed
        parsed += 1
        return ast.parse(text)

    assert older_python("print a\n" * 1000, tree_of) == "Python 2"
    assert parsed == 20
