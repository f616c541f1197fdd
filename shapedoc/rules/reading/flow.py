"""Questions about the graph of events: what a tensor came from, what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import DictValue, Seq, Tensor, Unknown, Value

__all__ = [
    "KEEPS",
    "SHAPING",
    "Graph",
    "axis_at",
    "by_kind",
    "events_of",
    "graph",
    "result_shape",
    "shape_at",
    "tensors_in",
]

# Ops that hand on the elements of their first operand, in another layout at most.
SHAPING = frozenset(
    (
        "view",
        "reshape",
        "transpose",
        "permute",
        "swapaxes",
        "swapdims",
        "movedim",
        "t",
        "T",
        "mT",
        "squeeze",
        "unsqueeze",
        "expand_dims",
        "expand",
        "expand_as",
        "contiguous",
        "flatten",
        "unflatten",
        "repeat",
        "tile",
        "broadcast_to",
        "rearrange",
        "getitem",
        "select",
        "narrow",
        "chunk",
        "split",
        "unbind",
        "view_as",
        "detach",
        "clone",
        "to",
        "float",
        "double",
        "half",
        "long",
        "int",
        "bool",
        "type",
        "astype",
        "cuda",
        "cpu",
        "type_as",
        "copy",
        "requires_grad_",
        "phi",
        "rotary",
        "repeat_interleave",
        "flip",
        "roll",
        "Identity.forward",
        "Flatten.forward",
        "Rearrange.forward",
        "asarray",
        "as_tensor",
        "from_numpy",
        "Variable",
        "Parameter",
        "numpy",
        "squeeze_",
        "unsqueeze_",
        "transpose_",
        "ascontiguousarray",
        "stack",
        "unpack",
    )
)
# Ops that keep the meaning of scores or weights besides: masks, dropout, scaling.
KEEPS = SHAPING | frozenset(
    (
        "masked_fill",
        "where",
        "dropout",
        "Dropout.forward",
        "mul",
        "div",
        "add",
        "sub",
        "clamp",
        "nan_to_num",
        "alpha_dropout",
        "masked_fill_",
        "relu",
        "tril",
        "triu",
    )
)


class Graph:
    """The events of a trace with their users."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        count = len(trace.events)
        self.users: list[list[Event]] = [[] for _ in trace.events]
        # For each event, the indices of those whose results went into it, in the order of its operands.
        self._sources: list[list[int]] = []
        for event in trace.events:
            sources = [i for i in dict.fromkeys(_sources(event)) if 0 <= i < count]
            self._sources.append(sources)
            for made in sources:
                self.users[made].append(event)

    def producer(self, value: Value | None) -> Event | None:
        """The event that made a tensor."""
        if isinstance(value, Tensor) and 0 <= value.event < len(self.trace.events):
            return self.trace.events[value.event]
        return None

    def producers(self, value: Value | None) -> list[Event]:
        """The events that made what is in a value."""
        return [self.trace.events[i] for i in _made(value) if 0 <= i < len(self.trace.events)]

    def inputs(self, event: Event) -> list[Event]:
        """The events whose results went into this one."""
        events = self.trace.events
        return [events[i] for i in self._sources[event.index]]

    def back(self, event: Event, through: Callable[[Event], bool]) -> Iterator[Event]:
        """This event and, as long as `through` holds of an event, all that went into it."""
        seen = {event.index}
        stack = [event]
        events, sources = self.trace.events, self._sources
        while stack:
            current = stack.pop()
            yield current
            if through(current):
                for index in sources[current.index]:
                    if index not in seen:
                        seen.add(index)
                        stack.append(events[index])

    def main_source(self, event: Event) -> Event | None:
        """The event that made the first tensor operand."""
        sources = self._sources[event.index]
        return self.trace.events[sources[0]] if sources else None

    def origin(self, event: Event, through: frozenset[str] = SHAPING) -> Event:
        """The event that made what `event` handed on, its layout changed at most."""
        events, every = self.trace.events, self._sources
        for _ in range(200):
            if event.short not in through or event.short == "phi":
                return event
            sources = every[event.index]
            if not sources:
                return event
            event = events[sources[0]]
        return event

    def forward(self, event: Event, through: Callable[[Event], bool]) -> Iterator[Event]:
        """The events that use this one's result and, as long as `through` holds of one, those that use its result."""
        seen: set[int] = set()
        stack = list(self.users[event.index])
        while stack:
            current = stack.pop(0)
            if current.index in seen:
                continue
            seen.add(current.index)
            yield current
            if through(current):
                stack.extend(self.users[current.index])


@lru_cache(maxsize=2)
def graph(trace: Trace) -> Graph:
    """The graph of a trace, built once."""
    return Graph(trace)


def tensors_in(value: Value | None) -> list[Tensor]:
    """Every tensor in a value."""
    match value:
        case Tensor():
            return [value]
        case Seq():
            rest = [value.rest] if value.rest is not None else []
            return [t for item in (*value.items, *rest) for t in tensors_in(item)]
        case DictValue():
            return [t for item in value.items.values() for t in tensors_in(item)]
    return []


def _made(value: Value | None) -> Iterable[int]:
    if isinstance(value, Unknown):
        return value.events
    return [t.event for t in tensors_in(value)]


def _sources(event: Event) -> list[int]:
    found: list[int] = []
    for operand in event.operands:
        value = operand.value
        if isinstance(value, Tensor):
            found.append(value.event)
        elif isinstance(value, _COMPOSED):
            found.extend(_made(value))
    return found


_COMPOSED = (Unknown, Seq, DictValue)


@lru_cache(maxsize=2)
def by_kind(trace: Trace) -> dict[str, list[Event]]:
    """The events of a trace by their short names, in order."""
    found: dict[str, list[Event]] = {}
    for event in trace.events:
        found.setdefault(event.short, []).append(event)
    return found


def events_of(trace: Trace, kinds: Iterable[str]) -> list[Event]:
    """The events with one of these short names, in order."""
    found = by_kind(trace)
    lists = [found[kind] for kind in kinds if kind in found]
    return lists[0] if len(lists) == 1 else sorted((e for some in lists for e in some), key=lambda e: e.index)


def shape_at(event: Event, operand: Operand | None) -> Shape | None:
    """An operand's shape with all that is known put in."""
    if operand is None or operand.shape is None:
        return None
    return event.sizes.shape(operand.shape) if event.sizes is not None else operand.shape


def result_shape(event: Event) -> Shape | None:
    """The shape of what an event made, with all that is known put in."""
    if event.shape is None:
        return None
    return event.sizes.shape(event.shape) if event.sizes is not None else event.shape


def axis_at(shape: Shape | None, index: int) -> Axis | None:
    """An axis by its position, negative ones from the right also beyond a run."""
    if shape is None:
        return None
    if index < 0:
        tail = shape.suffix
        return tail[index] if -index <= len(tail) else None
    head = shape.prefix
    return head[index] if index < len(head) else None
