"""Keys and values of one cache that grow along different axes."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Opaque, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import SHAPING, Graph, result_shape
from shapedoc.rules.reading.wording import label, text_of
from shapedoc.rules.shapes.joins.misjoin import Misjoin, axis_span

__all__ = ["unlike_in_a_cache"]


def unlike_in_a_cache(trace: Trace, g: Graph) -> Iterator[Misjoin]:
    """The joins of new keys and of new values behind those of one cache, where they run along different axes."""
    before: Event | None = None
    for event in trace.events:
        if event.short != "cat":
            continue
        if before is not None and _are_sisters(g, before, event):
            yield from _unlike(trace, before, event)
        before = event


def _are_sisters(g: Graph, one: Event, other: Event) -> bool:
    """Whether two joins that follow each other put new keys and values behind those of one cache."""
    if (one.function, one.branch, one.loops) != (other.function, other.branch, other.loops):
        return False
    pair, pair_2 = _pair(one), _pair(other)
    if pair is None or pair_2 is None:
        return False
    (old, new), (old_2, new_2) = pair, pair_2
    source, source_2 = _owner(g, old), _owner(g, old_2)
    if not source or source != source_2:
        return False
    return _layouts(g, old) == _layouts(g, old_2) and _layouts(g, new) == _layouts(g, new_2)


def _pair(event: Event) -> tuple[Value, Value] | None:
    value = event.value("tensors")
    if not isinstance(value, Seq) or value.rest is not None or len(value.items) != 2:
        return None
    return value.items[0], value.items[1]


def _tensor(value: Value) -> Tensor | None:
    found = value.as_tensor() if isinstance(value, Opaque) else value
    return found if isinstance(found, Tensor) else None


def _owner(g: Graph, value: Value) -> str:
    """What a part of a cache is a part of: a parameter by name, or the event that made the whole."""
    tensor = _tensor(value)
    if tensor is None:
        return ""
    made = g.producer(tensor)
    if made is None:
        return tensor.source.rpartition(".")[0]
    origin = g.origin(made, SHAPING)
    operand = next((o for o in origin.operands if isinstance(o.value, Tensor)), None)
    if origin.short in SHAPING and operand is not None and isinstance(operand.value, Tensor):
        return operand.value.source.rpartition(".")[0] or operand.value.source
    return ""


def _layouts(g: Graph, value: Value) -> tuple[str, ...]:
    """How a part was laid out, back to where it was made."""
    found: list[str] = []
    event = g.producer(_tensor(value))
    for _ in range(30):
        if event is None or event.short not in SHAPING or event.short == "phi":
            break
        values = [o.value.items if isinstance(o.value, Seq) else (o.value,) for o in event.operands]
        numbers = [str(literal(v)) for vs in values for v in vs if isinstance(v, Int)]
        if event.short not in ("getitem", "select", "unbind", "chunk", "split"):
            found.append(f"{event.short} {' '.join(numbers)}")
        event = g.main_source(event)
    return tuple(found)


def _unlike(trace: Trace, one: Event, other: Event) -> Iterator[Misjoin]:
    """Two joins along different axes, of tensors that are laid out alike."""
    first, second = (literal(e.value("dim") or Int(ONE - ONE)) for e in (one, other))
    if first is None or second is None:
        return
    shapes = [result_shape(e) for e in (one, other)]
    rank = next((s.rank for s in shapes if s is not None and s.rank is not None), None)
    if rank is None and (first < 0) != (second < 0):
        return
    places = (first, second) if rank is None else (first % rank, second % rank)
    if places[0] == places[1]:
        return
    # The one that is joined along an earlier axis is held to be wrong: that is the batch, or the heads.
    wrong, axis, right, wanted = (one, first, other, second)
    if places[0] > places[1]:
        wrong, axis, right, wanted = (other, second, one, first)
    name = wrong.target or text_of(trace, _first(wrong))
    beside = right.target or text_of(trace, _first(right))
    yield Misjoin(
        wrong,
        axis_span(wrong),
        axis,
        f"`{name}` and `{beside}` are joined along different axes",
        "both are laid out alike and come out of one cache: keys and values grow along one axis",
        f"dim={wanted}",
        label(right.span, f"joined along axis {wanted} here"),
    )


def _first(event: Event) -> Operand | None:
    operand = event.operand("tensors")
    return operand.parts[0] if operand is not None and operand.parts else operand
