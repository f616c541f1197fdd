"""SD204 lost-keepdim."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import is_number, literal, names, tensor_operands
from shapedoc.rules.reading.elementwise import ARITHMETIC, REDUCTIONS, keeps_axis, reduction_of, shallowest
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, shape_at
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

# What is done to a reduction and leaves its axes as they are, so long as its other operands are numbers.
_KEEPS = names("add sub mul div clamp clamp_min maximum sqrt float to type_as double half")


def check(trace: Trace) -> Iterator[Finding]:
    for meeting in shallowest(trace, "SD204"):
        reduction = reduction_of(trace, meeting)
        if reduction is not None:
            yield _found(trace, meeting.event, reduction, meeting.low, meeting.high, "error")
    seen = set()
    for event in trace.events:
        if event.short in ARITHMETIC and event.span not in seen:
            for found in _of_unknown_rank(trace, event):
                seen.add(event.span)
                yield found


def _of_unknown_rank(trace: Trace, event: Event) -> Iterator[Finding]:
    """A tensor of unknown rank and its own reduction, alone or with a number: ``x / (x.sum(-1) + eps)``.

    Over axis 1 or a later one the two line up for no rank, and neither do they over one from the end that certainly has
    another before it. Over the last axis they do for vectors alone, which the code does not have in mind where it keeps
    that axis in another reduction.
    """
    g, operands = graph(trace), tensor_operands(event)
    if len(operands) != 2:
        return
    for low, high in (operands, operands[::-1]):
        reduction = _reduced(g, low)
        if reduction is None:
            continue
        source, shape = tensor_operands(reduction)[:1], shape_at(event, high)
        axis = literal(reduction.value("dim"))
        if not source or not _same(g, source[0], high) or shape is None or shape.rank is not None or axis is None:
            continue
        if axis >= 1 or _has_another_before(shape, axis):
            yield _found(trace, event, reduction, low, high, "error")
        elif axis == -1 and (
            _keeps_elsewhere(g, high)
            or _keeps_later(g, event)
            or _keeps_beside(trace, reduction, source[0])
            or _is_scaled(g, event)
        ):
            yield _found(trace, event, reduction, low, high, "warning")


def _reduced(g: Graph, operand: Operand) -> Event | None:
    """The reduction without `keepdim` that an operand is, whatever numbers it was combined with since."""
    made = g.producer(operand.value)
    while made is not None and made.short in _KEEPS:
        others = [o for o in tensor_operands(made) if not is_number(o)]
        made = g.producer(others[0].value) if len(others) == 1 else None
    return made if made is not None and made.short in REDUCTIONS and not keeps_axis(made) else None


def _has_another_before(shape: Shape, axis: int) -> bool:
    """Whether an axis that is counted from the end has another one before it that is no 1."""
    return axis < 0 and -axis < len(shape.suffix) and shape.suffix[axis - 1].dim.value != 1


def _is_scaled(g: Graph, event: Event) -> bool:
    """Whether a forward pass scales what it centred by parameters of the model: a norm of features, row by row."""
    if not event.function.endswith(".forward"):
        return False
    return any(
        e.short == "mul" and any(isinstance(o.value, Tensor) and o.value.learned for o in tensor_operands(e))
        for e in (event, *g.forward(event, lambda e: e.short in ARITHMETIC))
    )


def _same(g: Graph, one: Operand, other: Operand) -> bool:
    if one.value is other.value:
        return True
    a, b = g.producer(one.value), g.producer(other.value)
    return a is not None and a is b


def _keeps_elsewhere(g: Graph, operand: Operand) -> bool:
    """Whether what an operand was made of went through a reduction over the last axis that keeps it."""
    made = g.producer(operand.value)
    if made is None:
        return False
    through = SHAPING | ARITHMETIC | frozenset(("exp",))
    return any(
        e.short in REDUCTIONS and keeps_axis(e) and literal(e.value("dim")) == -1
        for e in g.back(made, lambda e: e.short in through)
    )


def _keeps_later(g: Graph, event: Event) -> bool:
    """Whether what comes of it goes through a reduction over the last axis that keeps it: a softmax written out."""
    through = SHAPING | ARITHMETIC | frozenset(("exp",))
    return any(
        e.short in REDUCTIONS and keeps_axis(e) and literal(e.value("dim")) == -1 and e.function == event.function
        for e in g.forward(event, lambda e: e.short in through)
    )


def _keeps_beside(trace: Trace, reduction: Event, source: Operand) -> bool:
    """Whether another reduction of the same tensor over the last axis keeps it: ``x.mean(-1)``, ``x.std(-1, True)``."""
    g = graph(trace)
    made = g.producer(source.value)
    near = g.users[made.index] if made is not None else _round(trace, reduction)
    return any(
        e.short in REDUCTIONS
        and e.function == reduction.function
        and keeps_axis(e)
        and literal(e.value("dim")) == -1
        and any(_same(g, o, source) for o in tensor_operands(e)[:1])
        for e in near
    )


def _round(trace: Trace, event: Event) -> list[Event]:
    """The events about one."""
    return trace.events[max(0, event.index - 20) : event.index + 20]


def _found(trace: Trace, event: Event, reduction: Event, low: Operand, high: Operand, severity: Severity) -> Finding:
    g = graph(trace)
    users = {e.span for e in g.users[reduction.index]}
    span = reduction.span if len(users) <= 1 and not reduction.span.path else low.span
    text, beside = text_of(trace, low), text_of(trace, high)
    actual, shape = shape_text(event, low.shape), shape_text(event, high.shape)
    numpy = isinstance(low.value, Tensor) and low.value.library == "numpy"
    keyword = "keepdims=True" if numpy else "keepdim=True"
    return finding(
        trace,
        event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{reduction.short}` drops an axis of {beside}{' ' + shape if shape else ''}, "
        "and its result is combined with it again",
        tensor=text,
        actual=actual,
        expected=_kept(reduction),
        labels=label(event.span, f"{text} lines up with the last axes of {beside}")
        + label(reduction.span, "reduced here")
        + call_labels(event),
        why="without the reduced axis, axes meet from the right: the result for row i is applied to column i",
        notes=("runs only where the tensor is square",) if shape else (),
        help=f"give `{reduction.short}` {keyword}",
    )


def _kept(reduction: Event) -> str:
    """The shape of the reduction had it kept its axis."""
    operands = tensor_operands(reduction)
    shape = shape_at(reduction, operands[0]) if operands else None
    axis = literal(reduction.value("dim"))
    if (
        shape is None
        or shape.rank is None
        or axis is None
        or reduction.sizes is None
        or not -shape.rank <= axis < shape.rank
    ):
        return ""
    parts = [reduction.sizes.show(a.dim) for a in shape.axes]
    parts[axis] = "1"
    return f"({', '.join(parts)})"


RULE = Rule(
    code="SD204",
    name="lost-keepdim",
    severity="error",
    summary="A reduction without `keepdim` is combined again with what it reduced.",
    what="Follows sums, means, maxima and norms over one axis to arithmetic with the very tensor that was reduced, and "
    "looks whether their axes still line up. A sum over the first axis does; one over any other does not.",
    why="`scores / scores.sum(-1)` divides column j by the sum of row j. With a square matrix, such as the scores of "
    "self-attention, it runs, and the rows no longer sum to one.",
    instead="Keep the axis: `scores.sum(-1, keepdim=True)`, in NumPy `keepdims=True`.",
    source="PyTorch documentation, torch.sum (keepdim); NumPy reference, numpy.sum (keepdims).",
    bad=(
        Example(
            """\
import torch


def normalise(weights):
    batch_size, T_enc = weights.shape
    return weights / weights.sum(dim=-1)  # <- SD204


result = normalise(torch.rand(3, 3, generator=torch.Generator().manual_seed(0)))
"""
        ),
        Example(
            """\
import numpy as np


def softmax(scores):
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = exp.sum(axis=-1)  # <- SD204
    return exp / total


result = softmax(np.random.default_rng(0).normal(size=(4, 4)))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def normalise(weights):
    batch_size, T_enc = weights.shape
    return weights / weights.sum(dim=-1, keepdim=True)


result = normalise(torch.rand(3, 3, generator=torch.Generator().manual_seed(0)))
"""
        ),
        Example(
            """\
import numpy as np


def softmax(scores):
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = exp.sum(axis=-1, keepdims=True)
    return exp / total


result = softmax(np.random.default_rng(0).normal(size=(4, 4)))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: keeps the axis: `keepdim=True`.",
    kind="silent",
)
