"""Parameters that a function never reads while it passes on their defaults, written out, under their names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.span import Span
from shapedoc.rules.signatures import Parameter, Signature, signatures

__all__ = ["Ignored", "ignored"]


# A parameter with a literal, as a head has it and as a call does.
_GIVEN = re.compile(r"[(,]\s*(\w+)(?:\s*:\s*[\w.]+ )?\s*=\s*([\d.]+|True|False|[\"'][^\"']*[\"'])")


@dataclass(frozen=True, slots=True)
class Ignored:
    """``def __init__(self, d=512): self.part = Part(d=512)``: the call, and which parameters it does not pass on."""

    function: str
    call: Span
    called: str
    parameters: tuple[Parameter, ...]
    values: tuple[str, ...]


def ignored(text: str) -> Iterator[Ignored]:
    """Every such call of a file."""
    for signature in signatures(text) if _repeats(text) else ():
        defaults = _defaults(signature)
        if defaults:
            for call in (n for part in signature.node.body for n in ast.walk(part) if isinstance(n, ast.Call)):
                yield from _of_call(signature, defaults, call)


def _repeats(text: str) -> bool:
    """Whether a name is given the same literal twice: what need not be parsed is not."""
    seen: set[tuple[str, str]] = set()
    for pair in _GIVEN.findall(text):
        if pair in seen:
            return True
        seen.add(pair)
    return False


def _defaults(signature: Signature) -> dict[str, object]:
    """The literal defaults of parameters, None apart."""
    args = signature.node.args
    places = [*args.posonlyargs, *args.args]
    pairs = [*zip(places[len(places) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    return {a.arg: d.value for a, d in pairs if isinstance(d, ast.Constant) and d.value is not None}


def _of_call(signature: Signature, defaults: dict[str, object], call: ast.Call) -> Iterator[Ignored]:
    names = [
        k.arg
        for k in call.keywords
        if k.arg in defaults
        and isinstance(k.value, ast.Constant)
        and type(k.value.value) is type(defaults[k.arg])
        and k.value.value == defaults[k.arg]
    ]
    unread = {p.name: p for p in signature.ignored(set(names).__contains__)} if names else {}
    found = [n for n in names if n in unread]
    if found:
        end = (call.end_lineno or call.lineno, call.end_col_offset or call.col_offset)
        span = Span(call.lineno, call.col_offset, *end)
        values = tuple(str(defaults[n]) for n in found)
        yield Ignored(signature.name, span, ast.unparse(call.func), tuple(unread[n] for n in found), values)
