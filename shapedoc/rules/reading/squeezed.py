"""Batches that a squeeze takes away when they are of one, and who has thought of it."""

from __future__ import annotations

from shapedoc.core.axis_names import BATCH
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import literal, tensor_operands
from shapedoc.rules.reading.elementwise import ELEMENTWISE
from shapedoc.rules.reading.flow import Graph, axis_at, events_of, graph, result_shape, shape_at

__all__ = ["is_batch", "is_put_back", "named_batch", "squeezes_batch"]

_BATCH = BATCH | {"n", "n_b", "nb"}
_REDUCES = frozenset(("all", "any", "sum", "mean", "max", "min", "amax", "amin"))


def squeezes_batch(trace: Trace, event: Event) -> bool:
    """Whether ``x.squeeze(0)`` names the batch, which is told of."""
    return event.short == "squeeze" and named_batch(trace, event) is not None and not is_put_back(trace, event)


def is_put_back(trace: Trace, event: Event) -> bool:
    """Whether the author has thought of a batch of one, or what is left of it does as well.

    The axis is put back under a condition (``if batch_size == 1: x = x.unsqueeze(0)``), or by a view that names it; or
    the other way squeezes another; or a column (B, 1) only meets others element by element, which a number does too.
    """
    g = graph(trace)
    users = g.users[event.index]
    if any(e.short in ("unsqueeze", "view", "reshape") and len(e.branch) > len(event.branch) for e in users):
        return True
    operands = tensor_operands(event)
    shape = shape_at(event, operands[0]) if operands else None
    if users and shape is not None and all(_names_batch(trace, e, event, shape) for e in users):
        return True
    if shape is None or shape.rank is None:
        return False
    if literal(event.value("dim")) == 0 and all(e.short == "phi" for e in users) and _is_met(trace, shape.rank):
        return True
    if any(_picks_axis(g, phi, event) for phi in users):
        return True
    return (shape.rank == 2 and _meets_only(g, event)) or _becomes_one(g, event)


def _picks_axis(g: Graph, phi: Event, event: Event) -> bool:
    """Whether the other way squeezes another axis of the same value: the author knows which of them is 1 there.

    ``x.squeeze(0) if packed else x.squeeze(1)``: what is packed is a batch of one.
    """
    number = literal(event.value("dim"))
    if phi.short != "phi" or number is None:
        return False
    others = [e for e in g.inputs(phi) if e is not event and e.short == "squeeze"]
    squeezed = event.value("input")
    return any(e.value("input") is squeezed and literal(e.value("dim")) not in (None, number) for e in others)


def _names_batch(trace: Trace, view: Event, event: Event, shape: Shape) -> bool:
    """Whether a view of what was squeezed asks for the batch that it had, by a size that was read before."""
    result = result_shape(view)
    if view.short not in ("view", "reshape") or result is None or not result.prefix or event.sizes is None:
        return False
    batch = next((a for a in shape.axes if is_batch(event, a, len(shape.axes))), None)
    asked = trace.source(view.span).rpartition(view.short)[2]
    if batch is None or ".size(" in asked or ".shape" in asked:
        return False
    return event.sizes.compare(result.prefix[0].dim, batch.dim).ok


def _is_met(trace: Trace, rank: int) -> bool:
    """Whether the file gives an argument its first axis back where it has one fewer than `rank`: under a condition.

    ``if x.dim() == 1: x = x.unsqueeze(0)``, in the function that takes what another one hands out.
    """
    for event in events_of(trace, frozenset(("unsqueeze",))):
        given, kept = event.operand("input"), result_shape(event)
        if not event.branch or given is None or literal(event.value("dim")) != 0:
            continue
        argument = isinstance(given.value, Tensor) and given.value.event < 0
        if argument and kept is not None and event.sizes is not None and event.sizes.shape(kept).rank == rank:
            return True
    return False


def _meets_only(g: Graph, event: Event) -> bool:
    """Whether a value is used element by element and no otherwise, until it meets one that has its axis."""
    users = g.users[event.index]
    return bool(users) and all(
        e.short in ELEMENTWISE
        and (
            any(g.producer(o.value) is not event and o.shape is not None and o.shape.items for o in tensor_operands(e))
            or _meets_only(g, e)
        )
        for e in users
    )


def _becomes_one(g: Graph, event: Event) -> bool:
    """Whether nothing but one number is made of a value: ``(word.squeeze() == end).all()``."""
    users = g.users[event.index]
    return bool(users) and all(
        (e.short in _REDUCES and e.operand("dim") is None)
        or (e.short in ELEMENTWISE and len(tensor_operands(e)) == 1 and _becomes_one(g, e))
        for e in users
    )


def is_batch(event: Event, axis: Axis, rank: int) -> bool:
    """Whether an axis is the batch: a module takes it for that, or the author calls it so.

    rank: of its tensor; a table (N, d) may have N rows of anything.
    """
    sizes = event.sizes
    if sizes is None or axis.dim.const is not None:
        return False
    dim = sizes.resolve(axis.dim)
    if sizes.role(axis, "one") is not None or dim.sym is None:
        return False  # seen to be 1 here; a batch times something else is hardly ever 1
    name = dim.sym.name.lower()
    if "beam" in name:
        return False
    if name in _BATCH and (len(name) > 1 or rank > 2):
        return True
    others = any(sizes.role(axis, role) is not None for role in ("time", "feature"))
    return sizes.role(axis, "batch") is not None and not others


def _put_in(g: Graph, made: Event, event: Event) -> bool:
    """Whether the function that squeezes put a first axis of 1 into what the tensor was made of."""
    return any(
        e.function == event.function and e.short == "unsqueeze" and literal(e.value("dim")) == 0
        for e in g.back(made, lambda _: True)
    )


def named_batch(trace: Trace, event: Event) -> Axis | None:
    """The batch of a tensor, where ``squeeze`` names its axis."""
    operands = tensor_operands(event)
    number = literal(event.value("dim"))
    shape = shape_at(event, operands[0]) if operands else None
    axis = axis_at(shape, number) if number is not None else None
    rank = 3 if shape is None or shape.rank is None else shape.rank
    if axis is None or shape is None or event.sizes is None or not is_batch(event, axis, rank) or rank < 2:
        return None
    if not any(name.rpartition(".")[2] == "forward" for name in (event.function, *(c.function for c in event.calls))):
        return None  # who decodes one sentence knows that its batch is 1
    made = graph(trace).producer(operands[0].value)
    if made is not None and len(event.branch) > len(made.branch):
        return None  # who names an axis under a condition knows that it is 1 there
    if made is not None and not event.sizes.resolve(axis.dim).named and _put_in(graph(trace), made, event):
        return None  # a batch of one, taken away where it was put in
    return axis
