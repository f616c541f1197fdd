"""Parameters that a function never reads while it passes on their defaults, written out, under their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.core.written import Function, Parameter, WrittenCall

__all__ = ["Ignored", "ignored"]


@dataclass(frozen=True, slots=True)
class Ignored:
    """``def __init__(self, d=512): self.part = Part(d=512)``: the call, and which parameters it does not pass on."""

    function: str
    call: Span
    called: str
    parameters: tuple[Parameter, ...]
    values: tuple[str, ...]


def ignored(trace: Trace) -> Iterator[Ignored]:
    """Every such call of a file."""
    for function in trace.written.functions:
        defaults = {p.name: p.default for p in function.parameters if p.default is not None}
        for call in function.contents.calls if defaults else ():
            if call.literals:
                yield from _of_call(trace, function, defaults, call)


def _of_call(trace: Trace, function: Function, defaults: Mapping[str, object], call: WrittenCall) -> Iterator[Ignored]:
    names = [n for n, v in call.literals.items() if n in defaults and _is_same(v, defaults[n])]
    unread = {p.name: p for p in function.ignored(names.__contains__)} if names else {}
    found = [n for n in names if n in unread]
    if found:
        values = tuple(str(defaults[n]) for n in found)
        called = trace.source(call.function)
        yield Ignored(function.name, call.span, called, tuple(unread[n] for n in found), values)


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
