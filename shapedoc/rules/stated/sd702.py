"""SD702 unreadable-shape."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for unread in trace.unreadable:
        yield Finding(
            code=RULE.code,
            name=RULE.name,
            severity="warning",
            path=unread.span.path or trace.path,
            span=unread.span,
            message=f"this shape cannot be read: {unread.reason}",
            why="it stands where a shape is stated, so that it looks as if it were checked, and nothing reads it",
            help="write it as jaxtyping or `# shapedoc:` has it: names and numbers, `*` before several axes",
        )


RULE = Rule(
    code="SD702",
    name="unreadable-shape",
    severity="warning",
    summary="A jaxtyping string or a `# shapedoc:` line does not parse.",
    what="Reads the strings of jaxtyping annotations and the lines that begin with `# shapedoc:`, and reports those "
    "that cannot be read as a shape, or that stand beside no value.",
    why="Such a text can only be meant as a shape. jaxtyping raises on it at the first call, and a line that nobody "
    "can read checks nothing.",
    instead='Write `Float[Tensor, "batch T d_model"]`, `# shapedoc: x (batch, T, d_model)`.',
    source="jaxtyping documentation, Array annotations.",
    bad=(
        Example(
            """\
import torch


def scores(query, key):
    result = query @ key.transpose(-2, -1)
    # shapedoc: result (batch, T_dec, T_enc  # <- SD702
    return result


result = scores(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def scores(query, key):
    result = query @ key.transpose(-2, -1)
    # shapedoc: result (batch, T_dec, T_enc)
    return result


result = scores(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
"""
        ),
    ),
    check=check,
    fix="Safe, since only the annotation changes: separates axes by blanks where commas stand.",
    kind="silent",
)
