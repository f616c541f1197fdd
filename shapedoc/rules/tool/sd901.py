"""SD901 syntax-error: found by the engine, before there is a trace."""

from __future__ import annotations

from collections.abc import Iterable

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterable[Finding]:
    """Nothing: a file that has a trace has parsed."""
    return ()


RULE = Rule(
    code="SD901",
    name="syntax-error",
    severity="error",
    summary="The file does not parse.",
    what="Reports a file that names a tensor library and that Python cannot parse, at the place where the parser gave "
    "up. A file that only Python 2 can parse (`print x`, `except (A, B), error:`, `a <> b`, backquotes, `0777`, "
    "`10L`), or only a Python older than 3.7 (`x.cuda(async=True)`), is a note, which is off by default; the last"
    ' line of the report counts such files, `--notes` names them, and `severity = {SD901 = "error"}` makes errors'
    " of them. A file with such a form that has something newer besides (an f-string, an annotation) is an error."
    " The other files of the run are analysed all the same.",
    why="Nothing can be said of the shapes in such a file, and a report without findings looks as if all were well. "
    "What is right for the Python that it was written for has no fault in that line, and its author learns "
    "nothing from being told so: that it was not read is said once, at the end.",
    instead="Mend the syntax, port the file to Python 3, or leave it out with `exclude`. A file that is right for a "
    "newer Python than the one that runs shapedoc needs that newer one.",
    source="The Python Language Reference, full grammar specification; the same of Python 2.7; PEP 492.",
    bad=(
        Example(
            """\
import torch


def scores(query, key)  # <- SD901
    return query @ key.transpose(-2, -1)


result = scores(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
""",
            raises="SyntaxError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def scores(query, key):
    return query @ key.transpose(-2, -1)


result = scores(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
"""
        ),
    ),
    check=check,
    fix="No fix is offered: what was meant cannot be told from text that does not parse.",
    kind="loud",
)
