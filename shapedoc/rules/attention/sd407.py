"""SD407 weights-not-summed."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis
from shapedoc.core.span import Label
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import NoneValue
from shapedoc.rules.reading.contractions import names, reduced_axes, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, shape_at
from shapedoc.rules.reading.softmaxes import Softmax, holds, is_axis, softmaxes
from shapedoc.rules.reading.weights import Use, is_right, uses
from shapedoc.rules.reading.wording import call_labels, finding, label, named, shape_text
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_REDUCES = names("sum mean max amax min amin logsumexp einsum matmul bmm prod norm")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for softmax in softmaxes(trace):
        axis = softmax.axis
        if axis is None or softmax.kind == "sum" or axis.dim == ONE:
            continue
        found = [u for u in uses(g, softmax) if u.how != "product"]
        for use in found:
            if use.how == "mean" and is_right(use, axis) and not _over_all(use.event):
                yield _averaged(trace, softmax, use)
        if any(is_right(u, axis) for u in uses(g, softmax)):
            continue
        for use in found:
            if _other_axis(softmax, use) and not _later(g, use.event, axis):
                yield _another(trace, softmax, use)


def _over_all(event: Event) -> bool:
    """Whether a mean is taken of everything, as a loss is."""
    dim = event.value("dim")
    return dim is None or isinstance(dim, NoneValue)


def _other_axis(softmax: Softmax, use: Use) -> bool:
    """Whether only axes that the weights do not have were summed, and the normalised one is still there."""
    axis, shape = softmax.axis, softmax.shape
    if axis is None or shape is None or shape.rank is None or not any(is_axis(k, axis) for k in use.kept):
        return False
    own = [a for a in shape.axes if a.dim != ONE]
    return bool(use.summed) and all(s.dim != ONE and not any(s.same(a) for a in own) for s in use.summed)


def _later(g: Graph, event: Event, axis: Axis) -> bool:
    """Whether the normalised axis is summed (or reduced otherwise) after all."""
    for later in g.forward(event, lambda e: e.short in SHAPING or e.short in ("mul", "div", "add")):
        if later.lost:
            return True
        if later.short in _REDUCES:
            for operand in tensor_operands(later):
                shape = shape_at(later, operand)
                axes = reduced_axes(later, shape) if shape is not None else None
                if axes is None or later.short in ("einsum", "matmul", "bmm") or any(holds(a, axis) for a in axes):
                    return True
    return False


def _averaged(trace: Trace, softmax: Softmax, use: Use) -> Finding:
    assert softmax.axis is not None
    event = use.event
    size = event.sizes.show(softmax.axis.dim) if event.sizes is not None else "the keys"
    values = named(trace, use.values)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"weighted {values} is averaged over `{size}`, not summed: the context is `{size}` times too small",
        tensor=_context(trace, use),
        labels=_labels(trace, softmax, use),
        why="the weights already sum to 1 over the keys: their sum is the mean, and dividing again shrinks it",
        help="use `sum` in place of `mean`",
    )


def _another(trace: Trace, softmax: Softmax, use: Use) -> Finding:
    event, axis = use.event, softmax.axis
    assert axis is not None
    sizes = event.sizes
    ours = sizes.show(axis.dim) if sizes is not None else ""
    summed = ", ".join(f"`{sizes.show(a.dim)}`" for a in use.summed) if sizes is not None else ""
    operands = tensor_operands(event)
    shape = shape_at(event, operands[0]) if operands else None
    place = next((i for i, a in enumerate(shape.axes) if is_axis(a, axis)), None) if shape is not None else None
    dim = event.operand("dim")
    span = dim.span if dim is not None and dim.span is not None else event.span
    step = f"sum over the keys: `dim={place}`" if place is not None and shape is not None and shape.run is None else ""
    return finding(
        trace,
        event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"weighted {named(trace, use.values)} is summed over {summed}, but the weights are shares of `{ours}`",
        tensor=_context(trace, use),
        actual=shape_text(event, event.shape),
        labels=_labels(trace, softmax, use) + label(event.span, "summed here"),
        why="a context is the sum of the values over the keys, each with its weight; the features stay",
        help=step or "sum over the axis of the keys",
    )


def _context(trace: Trace, use: Use) -> str:
    return use.event.target or named(trace, use.values)


def _labels(trace: Trace, softmax: Softmax, use: Use) -> tuple[Label, ...]:
    name = softmax.event.target or "the weights"
    return (
        label(softmax.event.span, f"{name}: shares that sum to 1")
        + label(use.times.span, f"{name} times {named(trace, use.values)}")
        + call_labels(use.event)
    )


RULE = Rule(
    code="SD407",
    name="weights-not-summed",
    severity="error",
    summary="Weighted values are averaged, or summed over another axis than the keys.",
    what="Follows attention weights to where they multiply the values, and from there to the sum. Reports a mean over "
    "the keys, and a sum over an axis that the weights do not have.",
    why="The context is the sum of the values over the keys, each with its weight. A mean over the keys is too small "
    "by their number; a sum over the features leaves one number for every key.",
    instead="`(weights.unsqueeze(-1) * values).sum(dim=1)` for values (batch_size, T_enc, d_h), or a matrix product.",
    source="Bahdanau et al. 2015, equation 5.",
    bad=(
        Example(
            """\
import torch


def attend(scores, memory):
    batch_size, T_enc, d_h = memory.shape
    weights = torch.softmax(scores, dim=1)
    return (weights.unsqueeze(-1) * memory).sum(dim=2)  # <- SD407


torch.manual_seed(0)
result = attend(torch.randn(2, 5), torch.randn(2, 5, 7))
"""
        ),
        Example(
            """\
import torch


def attend(scores, memory):
    batch_size, T_enc, d_h = memory.shape
    weights = torch.softmax(scores, dim=1)
    return (weights.unsqueeze(-1) * memory).mean(dim=1)  # <- SD407


torch.manual_seed(0)
result = attend(torch.randn(2, 5), torch.randn(2, 5, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def attend(scores, memory):
    batch_size, T_enc, d_h = memory.shape
    weights = torch.softmax(scores, dim=1)
    return (weights.unsqueeze(-1) * memory).sum(dim=1)


torch.manual_seed(0)
result = attend(torch.randn(2, 5), torch.randn(2, 5, 7))
"""
        ),
        Example(
            """\
import torch


def attend(scores, memory):
    batch_size, T_enc, d_h = memory.shape
    weights = torch.softmax(scores, dim=1)
    return torch.einsum("bt,btd->bd", weights, memory)


torch.manual_seed(0)
result = attend(torch.randn(2, 5), torch.randn(2, 5, 7))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: sums along the keys.",
    kind="silent",
)
