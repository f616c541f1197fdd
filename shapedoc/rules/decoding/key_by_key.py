"""Scores that a loop works out for one key after the other, and puts together for a softmax."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Opaque, Seq, SliceValue, Tensor, Value
from shapedoc.rules.reading.attention import LINEAR
from shapedoc.rules.reading.contractions import PRODUCTS, literal, names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, axis_at, graph, result_shape, tensors_in
from shapedoc.rules.reading.softmaxes import Softmax, is_axis, softmaxes

__all__ = ["KeyByKey", "linear_scores"]

_DOTS = PRODUCTS | names("dot inner vdot mul")
_MEETS = names("cat concat add")
_JOINS = names("stack cat concat tensor")


@dataclass(frozen=True, slots=True, eq=False)
class KeyByKey:
    """Where query and key meet (`event`), in a score that stays linear; maps: how many linear maps follow."""

    event: Event
    query: Operand
    key: Operand
    maps: int
    softmax: Softmax


def linear_scores(trace: Trace) -> Iterator[KeyByKey]:
    """Sums and concatenations of a query and one key, with no nonlinearity on their way to the softmax."""
    g = graph(trace)
    for softmax in softmaxes(trace):
        made = g.producer(softmax.scores.value)
        while made is not None and made.short in KEEPS - _JOINS - {"phi", "add", "sub"}:
            made = g.main_source(made)
        if made is None:
            continue
        axis, values = _collected(g, made)
        normalised = softmax.axis or _only(softmax.shape)
        if axis is None or normalised is None or not is_axis(normalised, axis):
            continue
        met: dict[object, tuple[Event, int]] = {}
        for value in values:
            for event, maps in _met(g, value, 0):
                earlier = met.setdefault(event.span, (event, maps))[0]
                found = _compared(g, earlier, event) if earlier is not event else None
                if found is not None:
                    yield KeyByKey(event, *found, maps, softmax)


def _only(shape: Shape | None) -> Axis | None:
    """The axis of a vector."""
    return shape.axes[0] if shape is not None and shape.rank == 1 else None


def _collected(g: Graph, made: Event) -> tuple[Axis | None, list[Value]]:
    """The scores of two rounds, and the axis that the rounds are put together along."""
    if made.short == "setitem":
        earlier = g.producer(made.value("input"))
        if earlier is None or earlier.short != "setitem" or earlier.span != made.span or earlier.loops == made.loops:
            return None, []
        values = [e.value("value") for e in (earlier, made)]
        place = _place(earlier.value("index"), made.value("index"))
        axis = axis_at(result_shape(made), place) if place is not None else None
        return axis, [v for v in values if v is not None]
    if made.short not in _JOINS:
        return None, []
    joined = made.operand("tensors") or made.operand("data") or made.operand("arrays")
    if joined is None or not isinstance(joined.value, Seq):
        return None, []
    number = literal(made.value("dim")) if made.value("dim") is not None else 0
    axis = axis_at(result_shape(made), number) if number is not None else None
    return axis, list(tensors_in(joined.value))


def _place(one: Value | None, other: Value | None) -> int | None:
    """Where two indices differ."""
    ours, theirs = (v.items if isinstance(v, Seq) else (v,) for v in (one, other))
    differing = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if not _is_same_number(a, b)]
    return differing[0] if len(differing) == 1 and len(ours) == len(theirs) else None


def _compared(g: Graph, one: Event, two: Event) -> tuple[Operand, Operand] | None:
    """The query, the same in two rounds, and the key, another in each."""
    pairs = list(zip(_parts(one), _parts(two), strict=False))
    same = [b for a, b in pairs if _is_same(g, a.value, b.value)]
    other = [b for a, b in pairs if not _is_same(g, a.value, b.value)]
    return (same[0], other[0]) if len(same) == 1 and len(other) == 1 else None


def _met(g: Graph, value: Value | None, maps: int, depth: int = 40) -> Iterator[tuple[Event, int]]:
    """The sums or concatenations that a score is a linear map of, by every branch, and of how many maps."""
    for event in g.producers(value) if depth else ():
        operands = tensor_operands(event)
        if event.short in _MEETS:
            yield event, maps
        elif event.short == "phi":
            for operand in operands:
                yield from _met(g, operand.value, maps, depth - 1)
        elif event.short in _DOTS:
            rest = [o for o in operands if not _is_parameter(g, o.value)]
            if len(rest) == 1 and len(operands) == 2:
                yield from _met(g, rest[0].value, maps + 1, depth - 1)
        elif event.short in LINEAR | SHAPING | {"sum"} and operands:
            yield from _met(g, operands[0].value, maps + (event.short in LINEAR), depth - 1)


def _is_parameter(g: Graph, value: Value) -> bool:
    """Whether a value is a parameter of the model, its layout changed at most."""
    if isinstance(value, Tensor) and value.learned:
        return True
    event = g.producer(value)
    through = list(g.back(event, lambda e: e.short in SHAPING - _JOINS - {"phi"})) if event is not None else []
    return any(isinstance(e.result, Tensor) and e.result.learned for e in through)


def _parts(event: Event) -> tuple[Operand, ...]:
    joined = event.operand("tensors")
    return joined.parts if joined is not None else event.operands[:2]


def _is_same(g: Graph, one: Value, other: Value, depth: int = 12) -> bool:
    """Whether two rounds see one tensor: it is the very same, or the same steps made it of the same one."""
    if one is other:
        return isinstance(one, Opaque | Tensor)
    first, second = g.producer(one), g.producer(other)
    if first is None or second is None or not depth:
        return False
    if first is second:
        return True
    if first.op != second.op or first.span != second.span or len(first.operands) != len(second.operands):
        return False
    if first.short not in SHAPING | LINEAR | PRODUCTS:
        return False
    pairs = zip(first.operands, second.operands, strict=True)
    return all(_is_same_number(a.value, b.value) or _is_same(g, a.value, b.value, depth - 1) for a, b in pairs)


def _is_same_number(one: Value | None, other: Value | None) -> bool:
    """Whether two arguments that are no tensors are equal."""
    match one, other:
        case Int(), Int():
            return one.dim == other.dim
        case Seq(), Seq():
            pairs = zip(one.items, other.items, strict=False)
            return len(one.items) == len(other.items) and all(_is_same_number(a, b) for a, b in pairs)
        case SliceValue(), SliceValue():
            ours, theirs = (one.lower, one.upper, one.step), (other.lower, other.upper, other.step)
            return all(_is_same_number(a, b) for a, b in zip(ours, theirs, strict=True))
        case Tensor(), _:
            return False
    return one is other or (type(one) is type(other) and one == other)
