"""Keys and values that a cache is joined to, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int, Opaque, Seq, Tensor, Value
from shapedoc.rules.reading.flow import KEEPS, graph, result_shape, shape_at, tensors_in

__all__ = ["Join", "grown", "joins", "key_join"]


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """A ``cat`` that puts new keys behind those of a cache; `axis` is the one that grows."""

    event: Event
    axis: Axis


def joins(trace: Trace) -> Iterator[Join]:
    """Every such join: what comes first is handed in from outside, what comes after is made here."""
    for event in trace.events:
        if event.short != "cat" or not event.operands:
            continue
        given = event.operands[0].value
        axis = _joined_axis(event)
        if axis is None or not isinstance(given, Seq) or len(given.items) != 2:
            continue
        cache, new = given.items
        if _handed_in(cache) and any(t.event >= 0 for t in tensors_in(new)) and not _made_of(trace, new, cache):
            yield Join(event, axis)


def _made_of(trace: Trace, new: Value, cache: Value) -> bool:
    """Whether what is joined was made of what it is joined to: tokens that a model continues, and no cache."""
    g = graph(trace)
    earlier = cache.as_tensor() if isinstance(cache, Opaque) else cache
    made = g.producer(new)
    if made is None or not isinstance(earlier, Tensor):
        return False
    behind = (t for e in g.back(made, lambda e: True) for o in e.operands for t in tensors_in(o.value))
    return any(t.uid == earlier.uid or (t.event < 0 and t.source and t.source == earlier.source) for t in behind)


def _handed_in(value: Value) -> bool:
    """Whether a value comes from outside the function: a parameter, or an element of one."""
    tensor = value.as_tensor() if isinstance(value, Opaque) else value
    return isinstance(tensor, Tensor) and tensor.event < 0 and not tensor.learned and bool(tensor.source)


def _joined_number(event: Event) -> int | None:
    shape, dim = result_shape(event), event.value("dim")
    number = dim.value if isinstance(dim, Int) else 0 if dim is None else None
    if shape is None or shape.rank is None or number is None or not -shape.rank <= number < shape.rank:
        return None
    return number % shape.rank


def _joined_axis(event: Event) -> Axis | None:
    shape, number = result_shape(event), _joined_number(event)
    return shape.axes[number] if shape is not None and number is not None else None


def grown(trace: Trace, join: Join) -> tuple[Axis, ...]:
    """The axis that grows, in what the join gives and where a branch without a cache meets it."""
    found = [join.axis]
    for user in graph(trace).users[join.event.index]:
        shape = result_shape(user)
        number = _joined_number(join.event)
        if user.short == "phi" and shape is not None and shape.rank is not None and number is not None:
            found.append(shape.axes[number])
    return tuple(found)


def key_join(trace: Trace, event: Event, name: str) -> Join | None:
    """The join that made the second-to-last axis of an operand, the positions of the keys."""
    operand = event.operand(name)
    shape = shape_at(event, operand)
    made = graph(trace).producer(operand.value) if operand is not None else None
    if shape is None or made is None or len(shape.suffix) < 2:
        return None
    axis = shape.suffix[-2]
    sources = {e.index for e in graph(trace).back(made, lambda e: e.short in KEEPS)}
    return next((j for j in joins(trace) if j.event.index in sources and axis.same(j.axis)), None)
