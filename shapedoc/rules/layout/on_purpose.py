"""Views that put axes together in another order on purpose: what they undo, or what comes after them, shows it."""

from __future__ import annotations

from shapedoc.core.shape import Shape
from shapedoc.core.trace import Event, Trace
from shapedoc.rules.reading.contractions import literal, names
from shapedoc.rules.reading.encoders import index_parts
from shapedoc.rules.reading.flow import events_of, graph, result_shape, shape_at
from shapedoc.rules.reading.walks import twins

__all__ = ["is_on_purpose"]

_EXCHANGES = names("transpose swapaxes swapdims")


def is_on_purpose(trace: Trace, event: Event, before: Shape, after: Shape) -> bool:
    """Whether a view puts back what a view has cut, or cuts features that are shuffled and joined again.

    Or whether its branch is that of a single step, which is none to be mixed up, or an option of the model exchanges
    the axes before it, and without it the view is right.
    """
    ways = (_is_way_back, _is_shuffled, _is_of_one_step)
    return any(way(trace, event, before, after) for way in ways) or _is_option(trace, event)


def _is_way_back(trace: Trace, event: Event, before: Shape, after: Shape) -> bool:
    """Whether the same call cut such rows as are put together here into heads, of several rows at once.

    Attention over groups of steps: (B, T, d) as (B, T // group, n_heads, group * d // n_heads), and back.
    """
    sizes = event.sizes
    if sizes is None or len(before.axes) < 3 or not after.axes:
        return False
    wanted = [sizes.resolve(axis.dim) for axis in (*before.axes[-2:], after.axes[-1])]
    if wanted[-2] == wanted[-1]:
        return False  # the features stay as they are: nothing is put together
    for other in events_of(trace, ("view", "reshape")):
        same = other.function == event.function and other.calls == event.calls and other.index < event.index
        if not same or other.problems or other.shape is None or not other.operands:
            continue
        given = other.operands[0].shape
        if given is None or not given.suffix or len(other.shape.suffix) < 3:
            continue
        if [sizes.resolve(axis.dim) for axis in (*other.shape.suffix[-2:], given.suffix[-1])] == wanted:
            return True
    return False


def _is_shuffled(trace: Trace, event: Event, before: Shape, after: Shape) -> bool:
    """Whether features are cut into groups to be shuffled: the two last axes are exchanged, and are one again."""
    if before.rank is None or after.rank != before.rank + 1:
        return False
    users = graph(trace).users
    for made in users[event.index]:
        numbers = sorted(n % after.rank for o in made.operands if isinstance(n := literal(o.value), int))
        if made.short not in _EXCHANGES or numbers != [after.rank - 2, after.rank - 1]:
            return False
        ends = [u for m in users[made.index] for u in (users[m.index] if m.short == "contiguous" else [m])]
        if not ends or not all((s := result_shape(u)) is not None and s.rank == before.rank for u in ends):
            return False
    return bool(users[event.index])


def _is_of_one_step(trace: Trace, event: Event, before: Shape, after: Shape) -> bool:
    """Whether a branch takes the first of the steps of another tensor, which it has as many of as this one.

    What joins them with the features is made there of one step, as where a state is handed in: it is the only one.
    """
    sizes = event.sizes
    if sizes is None or not event.branch or len(before.axes) < 2:
        return False
    kept = {sizes.resolve(axis.dim) for axis in after.axes}
    lost = [d for axis in before.axes[1:-1] if (d := sizes.resolve(axis.dim)).const is None and d not in kept]
    for other in events_of(trace, ("getitem",)) if lost else ():
        if other.branch[: len(event.branch)] != event.branch or other.calls != event.calls:
            continue
        given = shape_at(other, other.operand("input"))
        parts = index_parts(other.value("index")) or ()
        if given is None or other.function != event.function:
            continue
        for axis, part in zip(given.prefix, parts, strict=False):
            if literal(part) == 0 and sizes.resolve(axis.dim) in lost:
                return True
    return False


def _is_option(trace: Trace, event: Event) -> bool:
    """Whether axes are exchanged in some walks only, and the view fits what has not been exchanged."""
    made = _exchange(trace, event)
    if made is None or made.function != event.function or made.calls != event.calls:
        return False
    others = [e for e in twins(trace, event) if e.function == event.function and not e.problems]
    return any(e.operands and e.operands[0].shape is not None and _exchange(trace, e) is None for e in others)


def _exchange(trace: Trace, event: Event) -> Event | None:
    """The exchange of two axes that made what a view is given."""
    g = graph(trace)
    made = g.producer(event.operands[0].value) if event.operands else None
    while made is not None and made.short == "contiguous" and made.operands:
        made = g.producer(made.operands[0].value)
    return made if made is not None and made.short in _EXCHANGES else None
