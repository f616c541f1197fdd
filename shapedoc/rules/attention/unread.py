"""What is given or made for attention and never read, while something else stands in its place twice.

A decoder block that accepts the encoder's output and attends to its own sequence in both of its attentions; a context
that is joined with itself, while the other one, made by the same call of something else, is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.core.written import Function, Parameter
from shapedoc.rules.reading.flow import events_of

__all__ = ["Unread", "joined_twice", "unread_memories"]

# What the output of an encoder is called.
_MEMORY = re.compile(
    r"(?:memory|enc(?:oder)?_?(?:outputs?|outs?|states|hidden_states|hiddens|memory)|src_(?:enc|encodings?|memory))"
)


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """The event where another tensor stands twice, that tensor, and what is never read: its name, and where it is.

    first: where the other tensor stood the first time, by right.
    """

    event: Event
    instead: Operand
    name: str
    place: Parameter | None = None
    first: Event | None = None


def unread_memories(trace: Trace) -> Iterator[Unread]:
    """Functions that attend twice, each time from a sequence to itself, and never read the memory they are given."""
    within: dict[str, list[Event]] = {}
    for event in events_of(trace, ("MultiheadAttention.forward",)):
        if not event.span.path:
            within.setdefault(event.function, []).append(event)
    for function in trace.written.functions if within else ():
        events = {e.span: e for e in within.get(function.name, ())}
        made = sorted(events.values(), key=lambda e: e.index)
        if len({id(e.value("self")) for e in made}) < 2 or not all(_to_itself(e) for e in made):
            continue
        memories = function.ignored(_MEMORY.fullmatch)
        key = made[-1].operand("key")
        if len(memories) == 1 and memories[0].default is None and key is not None:
            yield Unread(made[-1], key, memories[0].name, memories[0], made[0])


def _to_itself(event: Event) -> bool:
    query, key, value = (event.value(name) for name in ("query", "key", "value"))
    return isinstance(query, Tensor) and query is key is value


def joined_twice(trace: Trace) -> Iterator[Unread]:
    """Joins of one tensor with itself, in functions that leave another one which the same call has made."""
    for event in events_of(trace, ("cat", "concat", "concatenate")):
        joined = event.operand("tensors") or event.operand("arrays")
        if joined is None or len(joined.parts) != 2 or event.span.path:
            continue
        one, other = joined.parts
        if one.value is not other.value or not isinstance(one.value, Tensor) or one.span is None:
            continue
        for function in trace.written.named(event.function):
            left = _left_beside(trace, function, trace.source(one.span))
            if left:
                yield Unread(event, other, left)


def _left_beside(trace: Trace, function: Function, name: str) -> str:
    """What the call that made a variable has made, too, and nothing reads."""
    contents = function.contents
    called: dict[str, set[str]] = {}
    for given in contents.assigned:
        text, call, _ = trace.source(given.value).partition("(")
        if call and not text.startswith(("torch.", "np.", "F.", "nn.")):
            called.setdefault(given.name, set()).add(text)
    alike = (n for n, texts in called.items() if texts & called.get(name, set()) and n.isidentifier())
    return next((n for n in alike if n not in contents.reads and not n.startswith("_")), "")
