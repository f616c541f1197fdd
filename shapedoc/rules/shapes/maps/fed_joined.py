"""Linear maps that are fed what was joined, and make as much as the parts have together of what one part has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int, Layer, Seq, Tensor
from shapedoc.rules.reading.blame import layer_of
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import SHAPING, Graph, events_of, graph, shape_at

__all__ = ["FedJoined", "fed_joined"]

_JOINS = frozenset(("cat", "concat", "concatenate"))
_KEEPS = SHAPING | {"dropout", "Dropout.forward"}


@dataclass(frozen=True, slots=True, eq=False)
class FedJoined:
    """A linear map that is fed the join of so many `parts`: `event` is the call, `join` the join."""

    layer: Layer
    event: Event
    join: Event
    parts: int


def fed_joined(trace: Trace) -> Iterator[FedJoined]:
    """Every such map, once.

    ``Linear(d, d + d)`` of ``cat((x, y), dim=-1)``, or ``Linear(n_mels, d_h + d_c)`` of it, where no part has a
    width that is known and another: the sum is that of the parts, and the map should take it.
    """
    g = graph(trace)
    seen: set[Span] = set()
    for event in events_of(trace, ("Linear.forward",)):
        layer = layer_of(event)
        if layer is None or layer.span is None or layer.span.path or layer.span in seen or event.problems:
            continue
        ours, made = (layer.config.get(name) for name in ("in_features", "out_features"))
        shape = shape_at(event, event.operand("input"))
        if not isinstance(ours, Int) or not isinstance(made, Int) or shape is None or event.sizes is None:
            continue
        if not ours.dim.named or not made.dim.named or not _is_open(event, ours.dim, shape.suffix[-1:]):
            continue
        join = _join(g, event)
        parts = _parts(join) if join is not None else []
        if join is not None and len(parts) > 1 and _sums(made.dim, ours.dim, parts):
            seen.add(layer.span)
            yield FedJoined(layer, event, join, len(parts))


def _is_open(event: Event, ours: Dim, last: tuple[object, ...]) -> bool:
    """Whether nothing but the map says how wide its input is."""
    if not last:
        return True
    dim = getattr(last[0], "dim", None)
    assert event.sizes is not None
    if not isinstance(dim, Dim):
        return True
    dim = event.sizes.resolve(dim)
    return not dim.named or dim == event.sizes.resolve(ours)


def _join(g: Graph, event: Event) -> Event | None:
    """The join along the last axis that the input comes from."""
    source = g.producer(event.value("input"))
    for _ in range(8):
        if source is None or source.short not in _KEEPS:
            break
        source = g.main_source(source)
    if source is None or source.short not in _JOINS:
        return None
    return source if literal(source.value("dim") or source.value("axis")) in (-1, 2) else None


def _parts(join: Event) -> list[Dim]:
    """The widths of what is joined, as far as they are known; 1 where nothing is known."""
    tensors = join.value("tensors") or join.value("arrays")
    if not isinstance(tensors, Seq) or join.sizes is None:
        return []
    found: list[Dim] = []
    for part in (*tensors.items, *((tensors.rest,) if tensors.rest is not None else ())):
        shape = join.sizes.shape(part.shape) if isinstance(part, Tensor) else None
        width = join.sizes.resolve(shape.suffix[-1].dim) if shape is not None and shape.suffix else ONE
        found.append(width if width.named else ONE)
    return found


def _sums(made: Dim, ours: Dim, parts: list[Dim]) -> bool:
    """Whether the output has as many features as so many inputs, or is the sum of so many sizes of their own.

    One part more may be joined only in some cases.
    """
    known = [p for p in parts if p != ONE]
    if made == ours * len(parts):
        return all(p == ours for p in known)
    terms = list(made)
    single = all(len(monomial) == 1 and count == 1 for monomial, count in terms)
    own = all(p.sym is not None and p.sym in made.syms for p in known)
    return single and own and len(parts) <= len(terms) <= len(parts) + 1 and not ours.syms & made.syms
