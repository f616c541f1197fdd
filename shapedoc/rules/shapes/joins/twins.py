"""Joins written alike and side by side, of parts that are laid out alike, along different axes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Opaque, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import SHAPING, Graph, result_shape, shape_at
from shapedoc.rules.reading.wording import label, text_of
from shapedoc.rules.shapes.joins.misjoin import Misjoin, axis_span
from shapedoc.rules.shapes.joins.odd import split_of

__all__ = ["picked_alike", "unlike_twins"]

_WORD = re.compile(r"[A-Za-z_]\w*|\d+|\S")
# How many lines may lie between two statements that are read as a pair.
_NEAR = 2
_TAKES = frozenset(("getitem", "select", "unbind", "chunk", "split", "unpack", "phi"))


def unlike_twins(trace: Trace, g: Graph) -> Iterator[Misjoin]:
    """Every pair of joins that differ in nothing but their names and the axis.

    ``h = cat([h for _ in range(n)], 1)`` and ``c = cat([c for _ in range(n)], 0)`` of a state (h, c). That the parts
    are laid out alike, their coming from one operation or from two of a kind has to show: keys that are kept transposed
    grow along another axis than values do.
    """
    before: Event | None = None
    for event in trace.events:
        if event.short != "cat" or event.span.path:
            continue
        if before is not None and _are_twins(trace, g, before, event):
            found = _unlike(before, event)
            if found is not None:
                yield _told(trace, *found)
        before = event


def _told(trace: Trace, event: Event, axis: int, other: Event, wanted: int) -> Misjoin:
    name, beside = (e.target or text_of(trace, e.operand("tensors")) for e in (event, other))
    return Misjoin(
        event,
        axis_span(event),
        axis,
        f"`{name}` and `{beside}` are joined along different axes",
        "both are made alike, and what is joined is laid out alike",
        f"dim={wanted}",
        label(other.span, f"joined along axis {wanted} here"),
        severity="warning",
    )


def _are_twins(trace: Trace, g: Graph, one: Event, other: Event) -> bool:
    if (one.function, one.branch, one.loops, one.calls) != (other.function, other.branch, other.loops, other.calls):
        return False
    if not 0 < other.span.line - one.span.end_line <= _NEAR:
        return False
    first, second = one.operand("tensors"), other.operand("tensors")
    if first is None or second is None or not _are_written_alike(trace, first, second):
        return False
    parts, others = _parts(first), _parts(second)
    if len(parts) != len(others):
        return False
    pairs = list(zip(parts, others, strict=True))
    if _are_told_by_number(trace, first, second) and any(_is_of_unread(g, one, a) for a, _ in pairs):
        return False
    return all(_origin(g, one, a)[0] == _origin(g, other, b)[0] for a, b in pairs) and any(
        _are_alike(g, one, a, other, b) for a, b in pairs
    )


def _are_told_by_number(trace: Trace, one: Operand, other: Operand) -> bool:
    """Whether two parts differ in a number: ``p[1]`` and ``p[2]``."""
    words, others = (_WORD.findall(trace.source(o.span)) for o in (one, other) if o.span is not None)
    return any(a != b and a.isdigit() for a, b in zip(words, others, strict=True))


def _is_of_unread(g: Graph, join: Event, value: Value) -> bool:
    """Whether a part comes from a call that is not read: its first result and its third may be anything."""
    made = _origin(g, join, value)[1]
    return made is not None and bool(made.lost)


def _are_written_alike(trace: Trace, one: Operand, other: Operand) -> bool:
    """Whether two lists of parts differ in names alone, one name standing for another all through."""
    if one.span is None or other.span is None:
        return False
    words, others = (_WORD.findall(trace.source(o.span)) for o in (one, other) if o.span is not None)
    if len(words) != len(others) or words == others:
        return False
    names: dict[str, str] = {}
    for a, b in zip(words, others, strict=True):
        if a != b and not ((a.isidentifier() and b.isidentifier()) or (a.isdigit() and b.isdigit())):
            return False
        if a.isidentifier() and names.setdefault(a, b) != b:
            return False
    return len(set(names.values())) == len(names)


def _parts(operand: Operand) -> list[Value]:
    value = operand.value
    if not isinstance(value, Seq) or (value.rest is not None and not value.items):
        return [value] if not isinstance(value, Seq) or value.rest is None else [value, value.rest]
    return [*value.items, *([value.rest] if value.rest is not None else [])]


def _tensor(value: Value) -> Tensor | None:
    found = value.as_tensor() if isinstance(value, Opaque) else value
    return found if isinstance(found, Tensor) else None


def _are_alike(g: Graph, one: Event, a: Value, other: Event, b: Value) -> bool:
    """Whether two parts have the same layout: they come out of one operation, or of two of a kind, or look the same."""
    (way, made), (way_2, made_2) = _origin(g, one, a), _origin(g, other, b)
    if way != way_2:
        return False
    if made is not None and made_2 is not None and made.span.line:
        if made is made_2:
            return made.short not in ("cat", "add")
        same = made.short == made_2.short and _settings(made) == _settings(made_2)
        if same and made.short in ("Linear.forward", "split", "chunk"):
            return True
    shapes = [_shape(e, v) for e, v in ((one, a), (other, b))]
    return None not in shapes and shapes[0] == shapes[1]


def _origin(g: Graph, join: Event, value: Value) -> tuple[tuple[str, ...], Event | None]:
    """How a part was laid out, and the event before that."""
    way: list[str] = []
    produced = g.producers(value)
    event = produced[0] if len(produced) == 1 else split_of(g, join, value)
    for _ in range(30):
        if event is None or event.short not in SHAPING or (event.short in _TAKES and event.short != "getitem"):
            break
        if event.short != "getitem":
            way.append(f"{event.short} {' '.join(_settings(event))}")
        event = g.main_source(event)
    return tuple(way), event


def _settings(event: Event) -> tuple[str, ...]:
    """The numbers that an operation is given, alone or in a list, and the widths of a layer."""
    found = [f"{o.name}={literal(o.value)}" for o in event.operands if isinstance(o.value, Int)]
    lists = [(o.name, o.value.items) for o in event.operands if isinstance(o.value, Seq)]
    found += [
        f"{name}={[literal(v) for v in items]}" for name, items in lists if any(isinstance(v, Int) for v in items)
    ]
    layer = event.value("self")
    config = getattr(layer, "config", {})
    sizes = event.sizes
    for name in ("in_features", "out_features"):
        value = config.get(name)
        if isinstance(value, Int) and sizes is not None:
            found.append(f"{name}={sizes.resolve(value.dim)!r}")
    return tuple(found)


def _shape(event: Event, value: Value) -> tuple[object, ...] | None:
    """The sizes of a part of three axes or more, where all of them are known by a name."""
    tensor, sizes = _tensor(value), event.sizes
    if tensor is None or sizes is None:
        return None
    shape = sizes.shape(tensor.shape)
    dims = [sizes.resolve(axis.dim) for axis in shape.axes]
    if shape.run is not None or len(dims) < 3 or len(set(dims)) < len(dims) or not all(d.named for d in dims):
        return None
    return tuple(dims)


def _unlike(one: Event, other: Event) -> tuple[Event, int, Event, int] | None:
    """The one that is joined along the earlier axis is held to be wrong: that is the batch, or the heads."""
    first, second = (literal(e.value("dim")) if e.operand("dim") is not None else 0 for e in (one, other))
    if first is None or second is None:
        return None
    ranks = [s.rank for s in map(result_shape, (one, other)) if s is not None and s.rank is not None]
    if (len(ranks) < 2 or ranks[0] != ranks[1]) and (first < 0) != (second < 0):
        return None
    places = [n % ranks[0] for n in (first, second)] if ranks else [first, second]
    if places[0] == places[1]:
        return None
    if places[0] < places[1]:
        return one, first, other, second
    return other, second, one, first


def picked_alike(trace: Trace, event: Event) -> Misjoin | None:
    """A step that was picked, and given an axis, by the index that picked what it is put behind along another axis.

    ``cat([seqs[best], words[best].unsqueeze(1)], 0)``: of every sequence that goes on a step was picked, and given an
    axis for the time.
    """
    tensors, number = event.operand("tensors"), literal(event.value("dim")) if event.operand("dim") is not None else 0
    if tensors is None or len(tensors.parts) != 2 or number is None:
        return None
    text = [trace.source(part.span) if part.span is not None else "" for part in tensors.parts]
    before = re.fullmatch(r"\w[\w.]*\[(?P<index>\w+)\]", text[0])
    step = re.fullmatch(r"\w[\w.]*\[(?P<index>\w+)\]\s*\.unsqueeze\((?P<axis>\d)\)", text[1])
    if before is None or step is None or before["index"] != step["index"]:
        return None
    shape = shape_at(event, tensors.parts[1])
    place = int(step["axis"])
    if number < 0:
        if shape is None or shape.rank is None:
            return None
        number += shape.rank
    if number >= place:
        return None
    return Misjoin(
        event,
        axis_span(event),
        number,
        f"`{event.short}` joins a step along axis {number}, where axis {place} holds it",
        "one index picks both, so that both have the same rows; joined along them, there are twice as many",
        f"dim={place}",
        severity="warning",
    )
