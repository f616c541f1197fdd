"""The walks over the same operation: code is walked by itself, and again wherever it is called."""

from __future__ import annotations

from functools import lru_cache

from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.rules.reading.flow import graph

__all__ = ["is_consequence", "twins"]


@lru_cache(maxsize=2)
def _places(trace: Trace) -> dict[tuple[str, Span], list[Event]]:
    found: dict[tuple[str, Span], list[Event]] = {}
    for event in trace.events:
        found.setdefault((event.op, event.span), []).append(event)
    return found


def twins(trace: Trace, event: Event) -> list[Event]:
    """The other walks over the same operation."""
    return [e for e in _places(trace).get((event.op, event.span), []) if e is not event]


def is_consequence(trace: Trace, event: Event) -> bool:
    """Whether some walk has the operation use what came of operands that did not fit.

    A later round of a loop does, where the fault of this one goes into it, and so does a layer that is fed by another
    of its kind: that says nothing of this one. Sizes that driver code gives and that do not fit say nothing of a number
    of axes that is wrong in a walk without them, either.
    """
    first: dict[tuple[Span, ...], Event] = {}
    of_rank = all(p.kind == "wrong-rank" for p in event.problems) and not _is_driven(trace, event)
    for other in _places(trace).get((event.op, event.span), ()):
        if of_rank and _is_driven(trace, other):
            continue
        first.setdefault(tuple(call.span for call in other.calls), other)
    return event.spoilt or any(e.spoilt and _has_another_cause(trace, e) for e in first.values())


def _is_driven(trace: Trace, event: Event) -> bool:
    """Whether driver code led to an event."""
    return any(start <= event.index < end for name, start, end, _ in trace.entries[:1] if not name)


def _has_another_cause(trace: Trace, event: Event) -> bool:
    """Whether something else than an earlier walk over the same operation did not fit before it."""
    behind = graph(trace).back(event, lambda e: e.spoilt or e is event)
    return any(e.problems and not e.spoilt and e.span != event.span for e in behind)
