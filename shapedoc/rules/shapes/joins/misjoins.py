"""Joins along an axis that the rest of the code speaks against, though the sizes let them pass.

A tensor that is stretched along an axis to the length of another is to stand beside it along another axis; keys and
values of one cache grow along one axis; the steps of a recurrence, each with an axis of size 1 for the time, are joined
along that one and not along the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.wording import label, severity_of, text_of
from shapedoc.rules.shapes.joins.bare_steps import bare_steps
from shapedoc.rules.shapes.joins.caches import unlike_in_a_cache
from shapedoc.rules.shapes.joins.columns import column_as_rows, unlike_the_others
from shapedoc.rules.shapes.joins.joined import join_of
from shapedoc.rules.shapes.joins.misjoin import Misjoin, axis_span
from shapedoc.rules.shapes.joins.odd import odd_join
from shapedoc.rules.shapes.joins.rows import step_as_rows
from shapedoc.rules.shapes.joins.said import said_otherwise
from shapedoc.rules.shapes.joins.twins import picked_alike, unlike_twins

__all__ = ["Misjoin", "misjoins"]

_SEEN = ("error", "warning")
_SAME = frozenset(("to", "cuda", "type_as", "float", "contiguous", "clone", "dropout", "Dropout.forward"))
_STRETCHES = frozenset(("expand", "repeat", "broadcast_to", "tile"))


def misjoins(trace: Trace) -> Iterator[Misjoin]:
    """Every such join of a trace, one for each place."""
    seen: set[Span] = set()
    g = graph(trace)
    for event in trace.events:
        if event.short != "cat" or event.span in seen or _is_reported(event):
            continue
        found = (
            _stretched(trace, g, event)
            or _steps(trace, g, event)
            or _grown(trace, g, event)
            or _apart(event)
            or picked_alike(trace, event)
            or odd_join(g, event)
        )
        if found is not None:
            seen.add(event.span)
            yield found
    others = (unlike_in_a_cache(trace, g), _collected(trace), unlike_twins(trace, g), said_otherwise(trace))
    for found in (*chain(*others), *bare_steps(trace)):
        if found.event.span not in seen:
            seen.add(found.event.span)
            yield found


def _is_reported(event: Event) -> bool:
    """Whether sizes or ranks that do not fit are reported already."""
    return any(p.loud and severity_of(p.sameness) in _SEEN for p in event.problems)


# -- stretched to the other's length


def _stretched(trace: Trace, g: Graph, event: Event) -> Misjoin | None:
    join = join_of(event)
    value = event.value("tensors")
    if join is None or not isinstance(value, Seq) or event.sizes is None:
        return None
    rank = len(join.shapes[0].items)
    for i, (part, shape) in enumerate(zip(value.items, join.shapes, strict=True)):
        size = event.sizes.resolve(shape.axes[join.back].dim)
        others = [s.axes[join.back].dim for j, s in enumerate(join.shapes) if j != i]
        if size.const is not None or not all(event.sizes.resolve(d) == size for d in others):
            continue
        made = _stretching(g, part, join.back, rank)
        if made is None:
            continue
        free = [k for k in range(rank) if k != join.back + rank]
        if rank < 2 or not free:
            continue
        text = event.sizes.show(size)
        return Misjoin(
            event,
            join.span,
            join.back + rank,
            f"`{event.short}` joins along axis {join.back + rank}, along which one part was repeated to the "
            f"`{text}` of the other",
            "a tensor is repeated along an axis to fit beside another one; joined along that very axis, it need not "
            "have been",
            f"dim={_beside(join.shapes[i].axes, join.back, rank)}",
            label(made.span, f"repeated to `{text}` here"),
        )
    return None


def _beside(axes: tuple[Axis, ...], back: int, rank: int) -> int:
    """The axis along which it was to be joined: one of size 1, else the last one that is another."""
    ones = [k for k in range(rank) if axes[k].dim == ONE and k != back + rank]
    return ones[0] if ones else (-1 if back != -1 else rank - 2)


def _stretching(g: Graph, value: Value, back: int, rank: int) -> Event | None:
    """The event that stretched a part from size 1 along the axis."""
    event = g.producer(value)
    for _ in range(8):
        if event is None or event.short not in _SAME:
            break
        event = g.main_source(event)
    if event is None or event.short not in _STRETCHES:
        return None
    operand = event.operand("input") or event.operand("tensor")
    before, after = shape_at(event, operand), result_shape(event)
    if before is None or after is None or before.rank is None or after.rank != rank:
        return None
    if before.rank == rank:
        return event if before.axes[back].dim == ONE else None
    one = after.axes[back]
    return event if not any(one.same(a) for a in before.axes) and event.short != "expand_as" else None


# -- parts that a module takes beside each other


def _apart(event: Event) -> Misjoin | None:
    if not any(p.kind == "parts-not-beside" for p in event.problems):
        return None
    shape = result_shape(event)
    if event.loops and (shape is None or len(shape.axes) < 2):
        return None  # rows that a loop takes one by one are vectors: side by side along their one axis
    return Misjoin(
        event,
        axis_span(event),
        0,
        f"`{event.short}` joins along axis 0 what a module takes side by side",
        "the module is as wide as the parts together; joined along the first axis, each would have to be as wide alone",
        "dim=-1",
        severity="warning",
    )


# -- the steps of a recurrence


def _steps(trace: Trace, g: Graph, event: Event) -> Misjoin | None:
    value, number = event.value("tensors"), literal(event.value("dim") or Int(ONE - ONE))
    if not isinstance(value, Seq) or not isinstance(value.rest, Tensor) or value.items or event.sizes is None:
        return None
    shape, made = event.sizes.shape(value.rest.shape), g.producer(value.rest)
    if number is None or made is None or not _recurs(g, made, event):
        return None
    if shape.rank is None or shape.rank == 2:
        axes, place = shape.prefix, number if _is_given_an_axis(g, made) else -1
    else:
        axes, place = shape.axes, number % shape.rank if -shape.rank <= number < shape.rank else -1
    ones = [i for i, a in enumerate(axes) if a.dim == ONE]
    if ones != [1] or place != 0:
        return None  # a first axis of size 1 is a batch of one
    size = event.sizes.show(shape.axes[place].dim)
    return Misjoin(
        event,
        axis_span(event),
        place,
        f"`{event.short}` joins the steps of a loop along axis {place}, where axis {ones[0]} holds one step",
        f"each of them has `{size}` rows and one step; joined along the rows, the result has the rows of every step",
        f"dim={ones[0]}",
        label(made.span if made.span.line else None, "one step") if made.short != "phi" else (),
    )


def _is_given_an_axis(g: Graph, made: Event) -> bool:
    """Whether every step is given an axis where it is put into the list."""
    each = g.inputs(made) if made.short == "phi" else [made]
    return bool(each) and all(e.short == "unsqueeze" for e in each)


def _recurs(g: Graph, made: Event, join: Event) -> bool:
    """Whether what a loop's round made depends on what an earlier round made.

    Where a loop is around the join, that is the loop of the steps: what its last round left, another loop has gathered
    of the examples.
    """
    around = dict(join.loops)
    if any(around.get(loop, number) != number for e in (made, *g.inputs(made)) for loop, number in e.loops):
        return False
    for event in g.back(made, lambda e: True):
        for source in g.inputs(event):
            pairs = zip(event.loops, source.loops, strict=False)
            later = any(one[0] == two[0] and one[1] > two[1] and one[0] not in around for one, two in pairs)
            if later and event.short not in ("phi", "setitem"):
                return True
    return False


# -- a step that is put behind others as further rows


def _grown(trace: Trace, g: Graph, event: Event) -> Misjoin | None:
    """``tokens = cat((tokens, following), 0)``: one step for every row, joined as further rows."""
    join = join_of(event)
    found = step_as_rows(g, event, join) if join is not None else None
    if join is not None and found is None and (column := column_as_rows(g, event, join)) is not None:
        return Misjoin(
            event,
            join.span,
            column.place,
            f"`{event.short}` joins a column along axis {column.place}, where axis {column.column} is the one it has "
            "one element of",
            column.why,
            f"dim={column.column}",
        )
    if found is None or join is None:
        return None
    return Misjoin(
        event,
        join.span,
        found.place,
        f"`{event.short}` joins a step along axis {found.place}, where axis {found.step} holds it",
        found.why,
        f"dim={found.step}",
    )


def _collected(trace: Trace) -> Iterator[Misjoin]:
    """What a loop collected, joined along the batch, where other lists of the same loop are joined along the steps."""
    for event, other, step in unlike_the_others(trace):
        name, beside = (e.target or text_of(trace, e.operand("tensors")) for e in (event, other))
        yield Misjoin(
            event,
            axis_span(event),
            0,
            f"`{name}` and `{beside}` are joined along different axes",
            "one loop collected both, a step in every round: the steps of both are joined along one axis",
            f"dim={step}",
            label(other.span, f"joined along axis {step} here"),
            severity="warning",
        )
