"""SD111 axis-out-of-range."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Problem, Trace
from shapedoc.rules.reading.blame import clearest, faulty_call, problems
from shapedoc.rules.reading.flow import shape_at
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import made_before
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.reading.written import call_with_axis
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_KINDS = ("axis-out-of-range", "index-out-of-range")
_PLACES = ("dim", "dims", "dim0", "axis", "index")


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, *_KINDS):
        operand = event.operand(problem.operands[0]) if problem.operands else None
        if severity_of(problem.sameness) == "error" and not is_tainted(trace, operand):
            yield _found(trace, *clearest(trace, event, problem))


def _found(trace: Trace, event: Event, problem: Problem) -> Finding:
    operand = event.operand(problem.operands[0]) if problem.operands else None
    text, actual = text_of(trace, operand), shape_text(event, operand.shape if operand is not None else None)
    place = next((event.operand(n) for n in _PLACES if event.operand(n) is not None), None)
    call = call_with_axis(trace, event, problem, place) or faulty_call(trace, event, _KINDS)
    span = place.span if place is not None and place.name != "index" else None
    name = event.short.removesuffix(".forward")
    title, why, help_ = _words(event, problem, name, text)
    return finding(
        trace,
        event,
        call.span if call is not None else span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=title,
        tensor=text,
        actual=actual,
        labels=label(operand.span if operand is not None else None, f"{text} is {actual}")
        + label(event.span, f"{text} is {actual}")
        + made_before(trace, event, operand)
        + call_labels(event),
        why=why,
        help=help_,
    )


def _words(event: Event, problem: Problem, name: str, text: str) -> tuple[str, str, str]:
    """Title, reason and step."""
    if problem.kind == "index-out-of-range":
        sizes = [f"`{s}`" for s in problem.sizes]
        axis = problem.axes[0] if problem.axes else 0
        asked, has = (sizes[0], sizes[1]) if len(sizes) == 2 else ("an index", "its size")
        return (
            f"{asked} is past the end of axis {axis} of `{text}`, which has {has}",
            "indices run from 0 to the size less one",
            "index another axis, or a smaller number",
        )
    axis_text, rank = problem.detail.get("axis", ""), problem.detail.get("rank", "")
    if problem.detail.get("why") == "twice":
        return f"`{name}` names an axis twice: {axis_text}", "every axis is named once", "name every axis once"
    if problem.detail.get("why") or not axis_text:
        return (
            f"`{name}` names axes that `{text}` does not have",
            "it takes axes that exist, in order",
            "name axes that exist",
        )
    counts = "1 axis" if rank == "1" else f"{rank} axes"
    shape = shape_at(event, event.operand(problem.operands[0]) if problem.operands else None)
    last = -1 if shape is not None and shape.items else 0
    return (
        f"`{name}` names axis {axis_text} of `{text}`, which has {counts}",
        f"its axes are 0 to {int(rank) - 1}, or -1 to -{rank} from the right"
        if rank.isdigit() and rank != "0"
        else "it has no axes",
        f"{'axis' if event.op.startswith('numpy') else 'dim'}={last} for the last axis",
    )


RULE = Rule(
    code="SD111",
    name="axis-out-of-range",
    severity="error",
    summary="An operation names an axis that the tensor does not have.",
    what="Compares the axes that `softmax`, `sum`, `cat`, `transpose`, `squeeze` and their kin are given, and literal "
    "indices, with the axes there are.",
    why="It raises `Dimension out of range`. Often the tensor lost an axis before: scores of one step are "
    "(batch, T), not (batch, 1, T).",
    instead="Count from the right (`dim=-1`), or keep the axis that is missing (`keepdim=True`, `unsqueeze(1)`).",
    source="PyTorch documentation, torch.softmax, torch.sum.",
    bad=(
        Example(
            """\
import torch


def attend(state, memory):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=2)  # <- SD111
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


result = attend(torch.randn(2, 7), torch.randn(2, 5, 7))
""",
            raises="IndexError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def attend(state, memory):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=1)
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


result = attend(torch.randn(2, 7), torch.randn(2, 5, 7))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: names another axis.",
    kind="loud",
)
