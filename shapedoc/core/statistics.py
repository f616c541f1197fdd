"""What a run says of itself: how much was read, what was found in it, and how much of it was understood."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from shapedoc.core.span import Span

__all__ = ["Loss", "Statistics", "Understanding", "together"]


@dataclass(frozen=True, slots=True)
class Loss:
    """A reason why operations could not be followed, at how many places, and the first of them."""

    reason: str
    places: int
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class Understanding:
    """How many expressions make a tensor, of how many of them the rank is known, and the whole shape.

    An expression counts once, however often it is followed, and as what is known of it at best. ``losses`` has the
    most frequent reasons first.
    """

    expressions: int = 0
    rank: int = 0
    shape: int = 0
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of one run; ``analysed`` counts the files that name a tensor library, ``rules`` the findings by code."""

    lines: int = 0
    analysed: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    understanding: Understanding = field(default_factory=Understanding)


def together(parts: Iterable[Understanding]) -> Understanding:
    """The understanding of several files."""
    known = list(parts)
    losses: dict[str, Loss] = {}
    for part in known:
        for loss in part.losses:
            first = losses.get(loss.reason, loss)
            places = loss.places + (0 if first is loss else first.places)
            losses[loss.reason] = Loss(loss.reason, places, first.path, first.span)
    return Understanding(
        sum(part.expressions for part in known),
        sum(part.rank for part in known),
        sum(part.shape for part in known),
        tuple(sorted(losses.values(), key=lambda loss: (-loss.places, loss.reason))),
    )
