"""Joins whose result is not what any code wants: that undo a split, or put beside in rows what is one in features."""

from __future__ import annotations

from shapedoc.core.dim import ONE
from shapedoc.core.trace import Event
from shapedoc.core.value import Int, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import Graph, result_shape, shape_at
from shapedoc.rules.shapes.joins.cut import cut_apart
from shapedoc.rules.shapes.joins.joined import Join, join_of
from shapedoc.rules.shapes.joins.misjoin import Misjoin, axis_span

__all__ = ["odd_join", "split_of"]

_RECURRENT = frozenset(("GRU.forward", "LSTM.forward", "RNN.forward"))
_WAVES = frozenset(("sin", "cos"))
_SAME = frozenset(("contiguous", "to", "cuda", "float", "type_as", "dropout", "Dropout.forward", "clone"))
_SPLITS = frozenset(("split", "chunk", "tensor_split"))
# How many events lie between a split and a join of its parts at most.
_FAR = 40


def odd_join(g: Graph, event: Event) -> Misjoin | None:
    """What speaks against a join by itself, by what its parts are and what becomes of them."""
    return _undone(g, event) or _waves(g, event) or _directions(g, event) or cut_apart(g, event) or _regrouped(g, event)


def _number(event: Event) -> int | None:
    return literal(event.value("dim")) if event.operand("dim") is not None else 0


def _undone(g: Graph, event: Event) -> Misjoin | None:
    """The parts of a split, all of them in their order, joined along the axis that was split: nothing is done."""
    value, number = event.value("tensors"), _number(event)
    made = split_of(g, event, value)
    if made is None or number is None or number != (literal(made.value("dim")) if made.operand("dim") else 0):
        return None
    return Misjoin(
        event,
        axis_span(event),
        number,
        f"`{event.short}` joins along axis {number}, along which `{made.short}` took the parts apart: nothing changes",
        "the parts of a split, joined along the axis that was split, are what was split",
        "dim=-1" if number == 0 else "dim=0",
        severity="warning",
    )


def split_of(g: Graph, event: Event, value: Value | None) -> Event | None:
    """The split whose result is joined as it is."""
    for made in reversed(g.trace.events[max(0, event.index - _FAR) : event.index]):
        if made.short in _SPLITS and made.result is value and isinstance(value, Seq):
            return made
    return None


def _waves(g: Graph, event: Event) -> Misjoin | None:
    """The sine and the cosine of the same angles, joined along the batch."""
    join = join_of(event)
    if (
        join is None
        or len(join.shapes) != 2
        or len(join.shapes[0].items) < 3
        or join.back != -len(join.shapes[0].items)
    ):
        return None
    value = event.value("tensors")
    made = [g.producer(v) for v in value.items] if isinstance(value, Seq) else []
    if len(made) != 2 or made[0] is None or made[1] is None or {e.short for e in made if e is not None} != _WAVES:
        return None
    if g.main_source(made[0]) is None or g.main_source(made[0]) is not g.main_source(made[1]):
        return None
    return Misjoin(
        event,
        join.span,
        0,
        f"`{event.short}` joins the sine and the cosine of the same angles along axis 0",
        "a frequency has both of them as features; along the first axis, there are twice as many rows",
        "dim=-1",
        severity="warning",
    )


def _directions(g: Graph, event: Event) -> Misjoin | None:
    """The states of several directions or layers, each with the batch first, joined along the batch."""
    join, value = join_of(event), event.value("tensors")
    if join is None or not isinstance(value, Seq) or join.back != -len(join.shapes[0].items):
        return None
    if len(join.shapes[0].items) != 2:
        return None
    owners = {_state_of(g, part) for part in value.items}
    if len(owners) != 1 or None in owners:
        return None
    return Misjoin(
        event,
        join.span,
        0,
        f"`{event.short}` joins the states of two directions along axis 0, the batch",
        "each of them has one row for every sequence: side by side they are its features, behind each other they are "
        "twice as many sequences",
        "dim=-1",
        severity="warning",
    )


def _state_of(g: Graph, part: Value) -> int | None:
    """The recurrent module's event of whose last state a part is one layer or direction."""
    made = g.producer(part)
    index = made.value("index") if made is not None and made.short == "getitem" else None
    first = index.items[0] if isinstance(index, Seq) and index.items else index
    source = made.value("input") if made is not None else None
    if not isinstance(first, Int) or first.value is None or not isinstance(source, Tensor):
        return None
    owner = g.producer(source)
    result = owner.result if owner is not None and owner.short in _RECURRENT else None
    if owner is None or not isinstance(result, Seq) or not result.items or result.items[0] is source:
        return None
    return owner.index


def _regrouped(g: Graph, event: Event) -> Misjoin | None:
    """A join of rows whose parts a view puts side by side: every second row beside the one before it."""
    join = join_of(event)
    if join is None or join.back == -1 or join.shapes[0].axes[join.back].dim == ONE:
        return None
    count = len(join.shapes)
    for user in g.forward(event, lambda e: e.short in _SAME):
        if user.short in ("view", "reshape") and _takes(user, join, count):
            place = join.back + len(join.shapes[0].items)
            return Misjoin(
                event,
                join.span,
                place,
                f"`{event.short}` joins along axis {place}, and `{user.short}` makes the last axis {count} times as "
                "long of it",
                "rows that follow each other come to stand side by side, not those of the parts: joined along the last "
                "axis, they do",
                "dim=-1",
                severity="warning",
            )
    return None


def _takes(view: Event, join: Join, count: int) -> bool:
    """Whether the last axis of what a view makes is so many times that of its input, and the joined one is shorter."""
    given, made, sizes = shape_at(view, view.operand("input")), result_shape(view), view.sizes
    if given is None or made is None or sizes is None or given.run is not None or made.run is not None:
        return False
    before, after = sizes.resolve(given.axes[-1].dim), sizes.resolve(made.axes[-1].dim)
    if len(given.axes) != len(join.shapes[0].items) or not before.syms or after != count * before:
        return False
    joined = sizes.resolve(given.axes[join.back].dim)
    return all(sizes.resolve(axis.dim) != joined for axis in made.axes)
