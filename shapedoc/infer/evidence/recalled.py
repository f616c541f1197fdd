"""Ranks that a walk learns of a value after it was made, kept for the walk after it.

``weights = softmax(self.v(energy), dim=1)`` and then ``bmm(weights.transpose(1, 2), memory)``: that the weights have
three axes is learnt from the product. The next walk knows it where they are made, and what the transpose gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Event
from shapedoc.core.value import Tensor
from shapedoc.infer.evidence.surmise import Surmises

__all__ = ["Place", "place_of", "ranks_of", "recall"]

Place = tuple[Span, str, tuple[Span, ...]]


def place_of(event: Event) -> Place:
    """What an event is known by in another walk: where it stands, what it does, and the calls that it lies in."""
    return event.span, event.op, tuple(c.span for c in event.calls)


def ranks_of(events: Sequence[Event], sizes: Sizes, surmises: Surmises, unsure: set[int]) -> dict[Place, int]:
    """The ranks that are known at the end of a walk of what was made without knowing them.

    unsure: events that rest on a statement or on one branch alone. What has several ranks at one place is left out.
    """
    found: dict[Place, int] = {}
    several: set[Place] = set()
    for event in events:
        shape = event.shape
        if shape is None or shape.run is None:
            continue
        rank = sizes.shape(shape).rank
        place = place_of(event)
        sure = rank is not None and not (event.index in unsure or event.doubtful or surmises.of_shape(sizes, shape))
        if rank is None or not sure or found.setdefault(place, rank) != rank:
            several.add(place)
    return {place: rank for place, rank in found.items() if place not in several}


def recall(known: Mapping[Place, int], event: Event, sizes: Sizes) -> None:
    """Give what an event made the rank that an earlier walk has learnt of it."""
    if not isinstance(event.result, Tensor):
        return
    shape = sizes.shape(event.result.shape)
    if shape.run is None:
        return
    rank, run = known.get(place_of(event)), shape.items[shape.run]
    if rank is not None and rank >= len(shape.axes) and isinstance(run, Run):
        sizes.bind_run(run, tuple(Axis(sizes.fresh()) for _ in range(rank - len(shape.axes))))
