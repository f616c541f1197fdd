"""The two halves of an LSTM's state, which go one way, of which only one is turned."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Seq, Tensor
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import events_of, result_shape, tensors_in
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["half_turned"]

_TURNS = frozenset(("transpose", "t", "T", "permute", "swapaxes"))
_LAYS = names("contiguous clone detach to cuda float")
_CUTS = names("view reshape")
_MOST = 20
# What a part of a parameter is called that is a tuple.
_PART = re.compile(r"\.\d+$")
# So much is alike in what becomes of both, if they are known to be the halves of a state, and if they are not.
_KNOWN, _UNSEEN = 2, 4


def half_turned(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``h.transpose(0, 1).reshape(B, -1)`` and ``c.reshape(B, -1)``, and whatever is done with both of them then.

    Both are (layers * directions, batch, hidden), and whoever takes them takes them as a pair.
    """
    users = _users(trace)
    seen: set[Span] = set()
    for states, least in _pairs(trace, users):
        for one, other in ((states[0], states[1]), (states[1], states[0])):
            (way, end), (beside, also) = _way(trace, users, one), _way(trace, users, other)
            found = _missing(way, beside) if end == also and len(beside) >= least else None
            if found is None or found[1].span in seen:
                continue
            turn, bare = found
            seen.add(bare.span)
            yield _told(trace, turn, bare, code, name)


def _pairs(trace: Trace, users: dict[int, list[Event]]) -> Iterator[tuple[list[Tensor], int]]:
    """Two tensors that are a state, or the parts of one thing that is not followed, and how much must be alike."""
    for event in events_of(trace, ("LSTM.forward",)):
        parts = event.result.items if isinstance(event.result, Seq) else ()
        states = tensors_in(parts[1]) if len(parts) == 2 else []
        if len(states) == 2:
            yield states, _KNOWN
    unseen: dict[tuple[str, int], dict[int, Tensor]] = {}
    starts = [start for _, start, _, _ in trace.entries]
    for events in users.values():
        for value in (o.value for o in events[0].operands):
            if not isinstance(value, Tensor):
                continue
            if value.event >= 0 and trace.events[value.event].lost:
                unseen.setdefault(("", value.event), {})[value.uid] = value
            elif value.event < 0 and _PART.search(value.source):
                entry = bisect_right(starts, events[0].index)
                unseen.setdefault((value.source.rpartition(".")[0], entry), {})[value.uid] = value
    for found in unseen.values():
        if len(found) == 2:
            yield list(found.values()), _UNSEEN


def _told(trace: Trace, turn: Event, bare: Event, code: str, name: str) -> Finding:
    operand = bare.operands[0]
    text, beside, shape = text_of(trace, operand), text_of(trace, turn.operands[0]), shape_text(bare, operand.shape)
    return finding(
        trace,
        bare,
        operand.span,
        code=code,
        name=name,
        severity="warning",
        message=f"{text} goes the way of {beside}, which is turned, as it is",
        tensor=text,
        actual=shape,
        labels=label(turn.span, f"{beside} is turned here") + call_labels(bare),
        why="both are halves of one state, laid out alike: what comes of them is a pair no longer",
        help=f"turn {text} as {beside} is turned",
    )


def _users(trace: Trace) -> dict[int, list[Event]]:
    """The events that take a tensor, alone or among others, by the tensor."""
    found: dict[int, list[Event]] = {}
    for event in trace.events:
        for uid in {t.uid for o in event.operands for t in tensors_in(o.value)}:
            found.setdefault(uid, []).append(event)
    return found


def _way(trace: Trace, users: dict[int, list[Event]], state: Tensor) -> tuple[list[Event], object]:
    """What becomes of a state, one thing after the other, and who takes what is made of it in the end."""
    way: list[Event] = []
    value = state
    while len(way) < _MOST:
        following = users.get(value.uid, [])
        if len(following) != 1 or value.uid in trace.returned:
            break
        event = following[0]
        first = next((o.value for o in event.operands if isinstance(o.value, Tensor)), None)
        if first is not value or not isinstance(event.result, Tensor) or event.spoilt or event.short == "phi":
            break
        if event.short not in _LAYS:
            way.append(event)
        value = event.result
    return way, ([e.short for e in users.get(value.uid, [])], value.uid in trace.returned)


def _missing(way: Sequence[Event], other: Sequence[Event]) -> tuple[Event, Event] | None:
    """A turn of the one way that the other lacks, and what stands in its place there or ends it.

    The rest must be alike.
    """
    if len(way) != len(other) + 1:
        return None
    at = next((i for i, e in enumerate(other) if not _alike(way[i], e)), len(other))
    if way[at].short not in _TURNS or not all(_alike(a, b) for a, b in zip(way[at + 1 :], other[at:], strict=True)):
        return None
    if not any(e.short in _CUTS for e in other):
        return None
    return way[at], other[min(at, len(other) - 1)]


def _alike(one: Event, other: Event) -> bool:
    if (one.short in _TURNS) != (other.short in _TURNS) or (one.short not in _TURNS and one.short != other.short):
        return False
    ours, theirs = result_shape(one), result_shape(other)
    return ours is not None and theirs is not None and (ours.rank is None or ours.rank == theirs.rank)
