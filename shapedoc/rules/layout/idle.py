"""Layers that are built and named nowhere else, while one that is built alike does their work as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Layer
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import events_of

__all__ = ["Idle", "idle_layers"]

_LEARNED = names(
    "Linear LayerNorm Embedding Conv1d Conv2d GRU LSTM RNN GRUCell LSTMCell RNNCell MultiheadAttention Bilinear "
    "BatchNorm1d RMSNorm"
)
_CALLED = frozenset(f"{kind}.forward" for kind in _LEARNED)
_WORDS = re.compile(r"\d+|[a-zA-Z]+")


@dataclass(frozen=True, slots=True, eq=False)
class Idle:
    """The event that builds an idle layer, its name, that of the other one, and two calls of that one."""

    built: Event
    name: str
    other: str
    first: Event
    second: Event


def idle_layers(trace: Trace) -> Iterator[Idle]:
    """Every layer of a class that is never called, beside a twin that a method calls of two different things."""
    twins: dict[tuple[str, str], dict[str, Event]] = {}
    for event in events_of(trace, _LEARNED):
        layer = event.result
        if event.function.endswith(".__init__") and isinstance(layer, Layer) and layer.name and not event.span.path:
            owner = event.function.removesuffix(".__init__")
            twins.setdefault((owner, trace.source(event.span)), {})[layer.name.removeprefix("self.")] = event
    for (owner, _), built in twins.items():
        for name, event in built.items() if len(built) > 1 else ():
            if len(re.findall(rf"\b{re.escape(name)}\b", trace.text)) != 1:
                continue
            for other in built:
                calls = _calls(trace, owner, built[other]) if _is_alike(name, other) else None
                if calls is not None:
                    yield Idle(event, name, other, *calls)
                    break


def _is_alike(one: str, other: str) -> bool:
    """Whether two names differ in one word or number: ``norm1`` and ``norm2``, ``attn_norm`` and ``ff_norm``."""
    ours, theirs = _WORDS.findall(one), _WORDS.findall(other)
    return len(ours) == len(theirs) > 1 and sum(a != b for a, b in zip(ours, theirs, strict=True)) == 1


def _calls(trace: Trace, owner: str, built: Event) -> tuple[Event, Event] | None:
    """Two calls of a layer of two different things, both of which one walk of a method makes."""
    found: list[Event] = []
    for event in events_of(trace, _CALLED):
        layer, method = event.value("self"), event.function.rpartition(".")[0]
        if isinstance(layer, Layer) and layer.span == built.span and method == owner and not event.span.path:
            found.append(event)
    for one in found:
        for two in found:
            walk = one.calls == two.calls and one.branch == two.branch and one.loops == two.loops
            given = one.value("input") is not two.value("input")
            if walk and one.span < two.span and one.function == two.function and given:
                return one, two
    return None
