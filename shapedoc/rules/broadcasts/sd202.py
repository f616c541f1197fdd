"""SD202 outer-broadcast."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.rules.broadcasts.outer import Outer, leftover, outers, who_made
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.elementwise import ARITHMETIC, REDUCTIONS, is_mask
from shapedoc.rules.reading.sized import made_before, quoted
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

# What leaves an axis of size 1 behind without anybody wanting one to broadcast along.
_LEAVES = REDUCTIONS | names(
    "Linear.forward linear Conv1d.forward topk sort gather GRU.forward LSTM.forward matmul bmm"
)


def check(trace: Trace) -> Iterator[Finding]:
    seen = set()
    for event in trace.events:
        if event.short not in ARITHMETIC or event.span in seen:
            continue
        left = leftover(event)
        if left is not None:
            seen.add(event.span)
            yield _found(trace, left)
            continue
        for outer in outers(event):
            if outer.back != -1 or is_mask(outer.low) or is_mask(outer.high):
                continue
            made = who_made(trace, outer.high, outer.one)
            if made.short in _LEAVES if made is not None else outer.one.visible:
                seen.add(event.span)
                yield _found(trace, outer)
                break


def _found(trace: Trace, outer: Outer) -> Finding:
    event = outer.event
    low, high = text_of(trace, outer.low), text_of(trace, outer.high)
    ours, theirs = shape_text(event, outer.low.shape), shape_text(event, outer.high.shape)
    size = quoted(event, outer.axis)
    result = shape_text(event, event.shape)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{high} {theirs} and {low} {ours} give {result}: {size} meets itself twice",
        tensor=high,
        actual=theirs,
        expected=ours,
        labels=label(outer.low.span, f"{low} is {ours}")
        + label(outer.high.span, f"{high} is {theirs}")
        + made_before(trace, event, outer.low, outer.high)
        + call_labels(event),
        why="the last axis of one is 1 and the other has none: every element of one meets every element of the other",
        help=f"{high}.squeeze(-1)",
    )


RULE = Rule(
    code="SD202",
    name="outer-broadcast",
    severity="error",
    summary="A column meets a row: `(B, 1)` with `(B,)` gives `(B, B)`.",
    what="Looks for arithmetic in which an axis meets itself twice because one operand still has an axis of size 1 "
    "that a `Linear(d, 1)` or a reduction with `keepdim` left behind, or that a parameter is stated with, or because "
    "all axes of one stand before a last 1 of the other. An axis that was inserted on purpose (`x[:, None]`, "
    "`unsqueeze`) is taken to mean it.",
    why="The result compares every element with every other; its mean still looks like a loss.",
    instead="Drop the axis of size 1: `output.squeeze(-1) - target`.",
    source="PyTorch documentation, Broadcasting semantics.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
x, target = torch.randn(5, 6), torch.randn(5)
error = model(x) - target  # <- SD202
result = (error**2).mean()
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
x, target = torch.randn(5, 6), torch.randn(5)
error = model(x).squeeze(-1) - target
result = (error**2).mean()
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: drops the axis of size 1 that makes every pair meet.",
    kind="silent",
)
