"""A module that is fed another size than it was built with: which of the two is wrong, and where that was decided."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import Int, Layer
from shapedoc.rules.reading.blame import (
    axis_of,
    build_call,
    build_event,
    faulty_call,
    layer_of,
    outside,
    setting_span,
    sibling_size,
)
from shapedoc.rules.reading.flow import axis_at, graph, result_shape, shape_at
from shapedoc.rules.reading.scores import CREATES, maker
from shapedoc.rules.reading.sized import atom, equal, exchanged, quoted, same_size, shape_with
from shapedoc.rules.reading.wording import text_of

__all__ = ["Feed", "Place", "feed_of", "place_of"]

KIND = "mismatched-module-input"
# A size that is large enough for a multiple of it to be no coincidence, and how often it may stand in a sum.
_TELLING, _FEW = 8, 4


@dataclass(frozen=True, slots=True)
class Feed:
    """A call of a module whose input does not fit: the tensor, its axis (from the right), and what was wanted."""

    trace: Trace
    event: Event
    layer: Layer
    setting: str
    operand: Operand
    shape: Shape
    back: int
    axis: Axis
    wanted: Axis

    @property
    def text(self) -> str:
        return text_of(self.trace, self.operand)

    @property
    def kind(self) -> str:
        return self.layer.kind.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands, and what to do there."""

    span: Span
    help: str
    expected: str = ""
    labels: tuple[Label, ...] = ()


def feed_of(trace: Trace, event: Event, problem: Problem) -> Feed | None:
    """What is known of a call that does not fit; None where a part of it is not."""
    layer, operand = layer_of(event), event.operand(problem.operands[0]) if problem.operands else None
    setting = problem.detail.get("setting", "")
    shape = shape_at(event, operand)
    if layer is None or operand is None or shape is None or not problem.axes or event.sizes is None:
        return None
    config = layer.config.get(setting)
    position = problem.axes[0]
    axis = axis_of(event, operand, position)
    if axis is None or not isinstance(config, Int):
        return None
    back = position - len(shape.items) if position >= 0 else position
    wanted = Axis(event.sizes.resolve(config.dim))
    return Feed(trace, event, layer, setting, operand, shape, back, axis, wanted)


def place_of(feed: Feed) -> Place:
    """Where the fault lies: in the tensor that is fed, in what the module was built with, or in a call."""
    call = faulty_call(feed.trace, feed.event, (KIND,), driver=True)
    name = sibling_size(feed.trace, build_event(feed.trace, feed.layer), feed.axis.dim.value)
    if call is not None and not name and not feed.kind.startswith("Conv"):
        return _multiple(feed) or _call(feed, call)
    return (
        _laid_out_otherwise(feed)
        or _heads_apart(feed)
        or _left_behind(feed)
        or _fed_rightly(feed)
        or _join_forgotten(feed)
        or _built(feed, name)
    )


def _argument(feed: Feed) -> Span:
    return feed.operand.span or feed.event.span


def _laid_out_otherwise(feed: Feed) -> Place | None:
    """Another axis of the tensor has the size that the module was built with."""
    back = same_size(feed.event, feed.shape, feed.wanted, but=feed.back)
    if back is None or feed.wanted.dim.const == 1:
        return None
    items = list(feed.shape.items)
    items[back], items[feed.back] = items[feed.back], items[back]
    text = exchanged(feed.trace, feed.event, feed.operand, min(back, feed.back), max(back, feed.back))
    expected = feed.event.sizes.show_shape(Shape(tuple(items))) if feed.event.sizes is not None else ""
    return Place(_argument(feed), text, expected)


def _heads_apart(feed: Feed) -> Place | None:
    """The last two axes of a tensor with heads make up the size together: they were not merged."""
    tail = feed.shape.suffix
    if feed.back != -1 or len(tail) < 2 or (feed.shape.rank or 0) < 4:
        return None
    for one in (-2, -3):
        if -one <= len(tail) and equal(feed.event, tail[one].dim * tail[-1].dim, feed.wanted):
            if one == -2:
                return Place(_argument(feed), f"{_short(feed)}.flatten(-2)", "")
            return Place(_argument(feed), f"{_short(feed)}.transpose(1, 2).flatten(-2)", "")
    return None


def _short(feed: Feed) -> str:
    return atom(feed.text)


def _call(feed: Feed, call: Call) -> Place:
    """The module's class is sound by itself: it was built or called with the wrong size."""
    built = build_call(feed.trace, feed.layer, call)
    made = outside(feed.trace, feed.event, feed.operand, call)
    expected = shape_with(feed.event, feed.shape, feed.back, feed.wanted)
    wanted, got = quoted(feed.event, feed.wanted), quoted(feed.event, feed.axis)
    fed = Label(call.span, f"{feed.text} comes in here, with {got} at its axis {feed.back}")
    if built is not None and (made is None or made.short not in CREATES):
        return Place(built.span, f"build it with {got} where it gets {wanted}", expected, (fed,))
    labels = (Label(built.span, f"built here, with {wanted} as `{feed.setting}`"),) if built is not None else ()
    return Place(call.span, f"pass a tensor whose axis {feed.back} is {wanted}", expected, labels)


def _left_behind(feed: Feed) -> Place | None:
    """A tensor of the right size was made of this one and is used nowhere: it was meant."""
    g = graph(feed.trace)
    source = g.producer(feed.operand.value)
    users = g.users[source.index] if source is not None else _users_of(feed)
    for event in users:
        if event.index >= feed.event.index or not event.target or event.target.startswith("self."):
            continue
        last = axis_at(result_shape(event), feed.back)
        if last is not None and equal(feed.event, last, feed.wanted) and not g.users[event.index]:
            label = Label(event.span, f"`{event.target}` has {quoted(feed.event, feed.wanted)} and is not used")
            return Place(_argument(feed), f"pass `{event.target}`", "", (label,))
    return None


def _users_of(feed: Feed) -> list[Event]:
    value = feed.operand.value
    return [e for e in feed.trace.events if any(o.value is value for o in e.operands) and e is not feed.event]


def _multiple(feed: Feed) -> Place | None:
    """The class makes the size of others (``2 * hidden``), and is fed another sum of them: the sum is wrong."""
    wanted, got = feed.wanted.dim, feed.axis.dim.value
    if wanted.sym is not None or wanted.value is None or got is None or feed.event.sizes is None:
        return None
    for sym in wanted.syms:
        times, rest = divmod(got - wanted.value, sym.value or 1)
        if sym.name and sym.value is not None and sym.value >= _TELLING and not rest and 0 < abs(times) <= _FEW:
            return _built(feed, feed.event.sizes.show(wanted + times * Dim.of(sym)))
    return None


def _fed_rightly(feed: Feed) -> Place | None:
    """The module is fed the right size at another place, or in another round of a loop."""
    for event in feed.trace.events:
        again = event.span == feed.event.span and event.loops == feed.event.loops
        if again or layer_of(event) is not feed.layer or event.problems or event.lost:
            continue
        operand = event.operand(feed.operand.name)
        axis = axis_at(shape_at(event, operand), feed.back)
        if axis is not None and equal(event, axis, feed.wanted):
            label = Label(event.span, f"fed rightly here: {text_of(feed.trace, operand)}")
            expected = shape_with(feed.event, feed.shape, feed.back, feed.wanted)
            return Place(
                _argument(feed), f"pass a tensor with {quoted(feed.event, feed.wanted)} there", expected, (label,)
            )
    return None


def _join_forgotten(feed: Feed) -> Place | None:
    """The module was built for a sum of sizes and gets one of them: nothing was joined to it."""
    wanted, got = feed.wanted.dim, feed.axis.dim
    rest = wanted - got
    if len(wanted.terms) < 2 or not rest.one_signed or len(rest.terms) >= len(wanted.terms):
        return None
    missing = quoted(feed.event, rest)
    return Place(
        _argument(feed),
        f"torch.cat(({feed.text}, ...), dim={feed.back}) with what has the missing {missing}",
        shape_with(feed.event, feed.shape, feed.back, feed.wanted),
    )


def _built(feed: Feed, name: str) -> Place:
    """The module was built with the wrong size."""
    right = name or (feed.event.sizes.show(feed.axis.dim) if feed.event.sizes is not None else "")
    source = maker(feed.trace, feed.operand)
    label = () if source is None else (Label(source.span, f"{feed.text} comes from here"),)
    return Place(setting_span(feed.trace, feed.layer, feed.setting), f"build it with {feed.setting}={right}", "", label)
