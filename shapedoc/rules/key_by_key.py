"""Scores that a loop works out for one key after the other, and writes into a tensor for a softmax."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Opaque, Tensor, Value
from shapedoc.rules.attention import LINEAR
from shapedoc.rules.contractions import PRODUCTS, names, tensor_operands
from shapedoc.rules.flow import SHAPING, Graph, graph
from shapedoc.rules.softmaxes import Softmax, softmaxes

__all__ = ["KeyByKey", "linear_scores"]

_DOTS = PRODUCTS | names("dot inner vdot mul")
_MEETS = names("cat concat add")


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
        made = g.origin(made, SHAPING) if made is not None else None
        if made is None or made.short != "setitem":
            continue
        earlier = g.producer(made.value("input"))
        if earlier is None or earlier.short != "setitem" or earlier.span != made.span or earlier.loops == made.loops:
            continue
        (one, _), (two, maps) = _met(g, earlier.value("value")), _met(g, made.value("value"))
        if one is None or two is None or one.span != two.span:
            continue
        pairs = list(zip(_parts(one), _parts(two), strict=False))
        same = [b for a, b in pairs if _is_same(a.value, b.value)]
        other = [b for a, b in pairs if not _is_same(a.value, b.value)]
        if len(same) == 1 and len(other) == 1:
            yield KeyByKey(two, same[0], other[0], maps, softmax)


def _met(g: Graph, value: Value | None) -> tuple[Event | None, int]:
    """The sum or concatenation that a score is a linear map of, and of how many maps."""
    event, maps = _made(g, value), 0
    for _ in range(40):
        if event is None or event.short in _MEETS:
            return event, maps
        operands = tensor_operands(event)
        if event.short in _DOTS:
            rest = [o for o in operands if not (isinstance(o.value, Tensor) and o.value.learned)]
            if len(rest) != 1 or len(operands) != 2:
                return None, 0
            event, maps = _made(g, rest[0].value), maps + 1
        elif event.short in LINEAR | (SHAPING - {"phi"}) and operands:
            maps += event.short in LINEAR
            event = _made(g, operands[0].value)
        else:
            return None, 0
    return None, 0


def _made(g: Graph, value: Value | None) -> Event | None:
    found = g.producers(value)
    return found[0] if len(found) == 1 else None


def _parts(event: Event) -> tuple[Operand, ...]:
    joined = event.operand("tensors")
    return joined.parts if joined is not None else event.operands[:2]


def _is_same(one: Value, other: Value) -> bool:
    if isinstance(one, Opaque) and isinstance(other, Opaque):
        return one is other
    return isinstance(one, Tensor) and one is other
