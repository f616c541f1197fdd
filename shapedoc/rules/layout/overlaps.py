"""Assignments of a part of a tensor to another part of it, where the two parts share elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import EllipsisValue, Int, NoneValue, Seq, SliceValue, Tensor, Value
from shapedoc.rules.reading.flow import axis_at, events_of, graph, shape_at

__all__ = ["Overlap", "overlaps"]


@dataclass(frozen=True, slots=True)
class Overlap:
    """``x[:, 1:] = x[:, :-1]``: event writes, source reads. axis: the one that is shifted. shift: by how much; what is
    read lies before what is written where it is above 0.
    """

    event: Event
    source: Event
    axis: int
    shift: int


def overlaps(trace: Trace) -> Iterator[Overlap]:
    """Every assignment, of a torch tensor, that reads what it writes over."""
    g = graph(trace)
    for event in events_of(trace, ("setitem",)):
        tensor, source = event.value("input"), g.producer(event.value("value"))
        if source is None or source.short != "getitem" or source.value("input") is not tensor:
            continue
        if isinstance(tensor, Tensor) and tensor.library == "torch" and _runs_torch(trace):
            found = _shifted(event, source, shape_at(event, event.operand("input")))
            if found is not None:
                yield Overlap(event, source, *found)


def _runs_torch(trace: Trace) -> bool:
    """Whether the program is torch's: NumPy copies what overlaps before it writes."""
    return any(e.op.startswith("torch.") and not e.op.startswith("torch.Tensor.") for e in trace.events)


def _shifted(event: Event, source: Event, shape: Shape | None) -> tuple[int, int] | None:
    """The axis along which two selections of a tensor are shifted against each other, all others being the same."""
    written, read = _items(event.value("index")), _items(source.value("index"))
    if len(written) != len(read) or event.sizes is None or any(isinstance(i, EllipsisValue) for i in written):
        return None
    found: tuple[int, int] | None = None
    for place, (one, other) in enumerate(zip(written, read, strict=True)):
        if _same(event.sizes, one, other):
            continue
        shift = _distance(event.sizes, axis_at(shape, place), one, other)
        if shift is None or found is not None:
            return None
        found = place, shift
    return found


def _items(index: Value | None) -> tuple[Value, ...]:
    if isinstance(index, Seq):
        return index.items
    return (index,) if index is not None else ()


def _same(sizes: Sizes, one: Value, other: Value) -> bool:
    match one, other:
        case SliceValue(), SliceValue():
            pairs = ((one.lower, other.lower), (one.upper, other.upper), (one.step, other.step))
            return all(_same(sizes, a, b) for a, b in pairs)
        case Int(), Int():
            return sizes.resolve(one.dim) == sizes.resolve(other.dim)
        case NoneValue(), NoneValue():
            return True
    return False


def _distance(sizes: Sizes, axis: Axis | None, written: Value, read: Value) -> int | None:
    """How many places two slices of one axis are apart that reach from one to the other end of it, a few off."""
    if not isinstance(written, SliceValue) or not isinstance(read, SliceValue):
        return None
    if not isinstance(written.step, NoneValue) or not isinstance(read.step, NoneValue):
        return None
    for one, other, sign in ((written, read, 1), (read, written, -1)):
        shift = one.lower.value if isinstance(one.lower, Int) else None
        if shift is None or shift < 1 or not isinstance(one.upper, NoneValue) or not _is_start(other.lower):
            continue
        size = sizes.resolve(axis.dim) if axis is not None else None
        if not _ends(sizes, size, other.upper, shift) or (size is not None and _short(size, shift)):
            return None
        return sign * shift
    return None


def _is_start(value: Value) -> bool:
    return isinstance(value, NoneValue) or (isinstance(value, Int) and value.value == 0)


def _ends(sizes: Sizes, size: Dim | None, upper: Value, shift: int) -> bool:
    """Whether a slice ends `shift` places before the end."""
    if not isinstance(upper, Int):
        return False
    return upper.value == -shift or (size is not None and (size - sizes.resolve(upper.dim)).const == shift)


def _short(size: Dim, shift: int) -> bool:
    """Whether an axis is so short that the two parts have nothing in common."""
    number = size.value
    return number is not None and number <= 2 * shift
