"""SD114 ambiguous-truth."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Tested, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

# Operations that take a mask.
_MASKED = names("masked_fill where masked_select masked_scatter")
_TURNS = SHAPING | names("eq ne invert logical_not")


def check(trace: Trace) -> Iterator[Finding]:
    for span, tested in trace.tested.items():
        if tested.tensor is not None:
            if _has_several(tested.shape):
                yield _found(trace, span, tested, None)
        else:
            here = (e for e in trace.events if e.function == tested.function and e.short in _MASKED)
            use = next((e for e in here if _masks_with(graph(trace), e, tested.name)), None)
            if use is not None:
                yield _found(trace, span, tested, use)


def _has_several(shape: Shape | None) -> bool:
    """Whether a tensor has more than one element, whatever its sizes that are not known."""
    if shape is None or shape.rank is None:
        return False
    return any(isinstance(a, Axis) and a.dim != ONE and (a.dim.named or a.dim.const is not None) for a in shape.axes)


def _masks_with(g: Graph, event: Event, name: str) -> bool:
    """Whether an event takes the parameter of this name for a mask, turned or laid out anew at most."""
    mask = event.operand("mask") or event.operand("condition")
    made = g.producer(mask.value) if mask is not None else None
    behind = g.back(made, lambda e: e.short in _TURNS) if made is not None else ()
    operands = [o for e in behind if e.short in _TURNS for o in e.operands] + ([mask] if mask is not None else [])
    return any(isinstance(o.value, Tensor) and o.value.event < 0 and o.value.name == name for o in operands)


def _found(trace: Trace, span: Span, tested: Tested, use: Event | None) -> Finding:
    labels = (Label(use.span, f"{tested.name} masks here"),) if use is not None and not use.span.path else ()
    return Finding(
        RULE.code,
        RULE.name,
        "error",
        trace.path,
        span,
        f"the truth of the tensor `{tested.name}` is asked for: it has more elements than one",
        tested.function,
        tested.name,
        labels=labels,
        why="torch and NumPy raise: whether a tensor of several elements is true is ambiguous",
        help=f"`if {tested.name} is not None`",
    )


RULE = Rule(
    code="SD114",
    name="ambiguous-truth",
    severity="error",
    summary="A branch asks whether a tensor of several elements is true.",
    what="Looks at branches on a variable alone (`if mask:`, `if not mask:`). Reports those on a tensor of several "
    "elements, and on a parameter that the same function takes for a mask.",
    why="It works as long as nobody passes the argument: None is false. Whoever passes a mask gets `RuntimeError: "
    "Boolean value of Tensor with more than one value is ambiguous`. Published attention code has it where masks are "
    "optional.",
    instead="`if mask is not None:`.",
    source="PyTorch documentation, torch.Tensor (`bool` of a tensor); NumPy user guide, Truth value testing.",
    bad=(
        Example(
            """\
import torch


def attend(query, memory, mask=None):
    scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
    if mask:  # <- SD114
        scores = scores.masked_fill(mask, float("-inf"))
    return torch.bmm(scores.softmax(dim=1).unsqueeze(1), memory)


attend(torch.randn(2, 6), torch.randn(2, 5, 6), torch.zeros(2, 5, dtype=torch.bool))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def attend(query, memory, mask=None):
    scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return torch.bmm(scores.softmax(dim=1).unsqueeze(1), memory)


attend(torch.randn(2, 6), torch.randn(2, 5, 6), torch.zeros(2, 5, dtype=torch.bool))
"""
        ),
    ),
    check=check,
    kind="loud",
)
