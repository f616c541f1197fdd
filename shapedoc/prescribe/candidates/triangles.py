"""The diagonal and the side of a causal mask."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls

__all__: list[str] = []

_TRIANGLES = ("tril", "triu", "tril_indices", "triu_indices")
_OFFSETS = (0, 1, -1)


@proposes("SD502")
def another_triangle(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Another diagonal, or the other side."""
    syntax = bench.syntax
    for call in calls(bench, finding, *_TRIANGLES):
        name = syntax.called(call)
        word, found = _offset(bench, call)
        other = name.replace("tril", "TRI").replace("triu", "tril").replace("TRI", "triu")
        place = _name(bench, call)
        for offset in _OFFSETS:
            edits = _with_offset(bench, call, word, found, offset)
            if edits is None:
                continue
            if edits:
                yield Candidate(edits, f"move the diagonal: `{name}(..., {word}={offset})`")
            if place is not None:
                yield Candidate(
                    (syntax.replace(place, other), *edits),
                    f"take the other side: `{other}(..., {word}={offset})`"
                    if offset
                    else f"take the other side: `{other}`",
                )
        return


def _name(bench: Bench, call: cst.Call) -> Span | None:
    if isinstance(call.func, cst.Attribute):
        whole = bench.syntax.span(call.func)
        if whole is None:
            return None
        length = len(call.func.attr.value)
        return Span(whole.end_line, whole.end_column - length, whole.end_line, whole.end_column)
    return bench.syntax.span(call.func)


def _offset(bench: Bench, call: cst.Call) -> tuple[str, cst.BaseExpression | None]:
    """The word for the diagonal, and where it is written."""
    syntax = bench.syntax
    name = syntax.called(call)
    receiver = syntax.receiver(call)
    library = syntax.plain(receiver) if receiver is not None else ""
    indices = name.endswith("indices")
    word = "k" if library in ("np", "numpy") else "offset" if indices else "diagonal"
    for arg in syntax.arguments(call):
        if arg.keyword in ("k", "offset", "diagonal"):
            return arg.keyword, arg.value
    positional = [arg for arg in syntax.arguments(call) if not arg.keyword]
    index = 2 if indices and library == "torch" else 1 if library in ("torch", "np", "numpy") else 0
    if index < len(positional) and isinstance(positional[index].value, cst.Integer | cst.UnaryOperation):
        return word, positional[index].value
    return word, None


def _with_offset(
    bench: Bench, call: cst.Call, word: str, found: cst.BaseExpression | None, offset: int
) -> tuple[Edit, ...] | None:
    """The edits that set the diagonal; none where it is so already, None where it cannot be done."""
    syntax = bench.syntax
    if found is None:
        return syntax.argument(call, f"{word}={offset}") if offset else ()
    span = syntax.span(found)
    if span is None:
        return None
    return () if syntax.source(span).replace(" ", "") == str(offset) else (syntax.replace(span, str(offset)),)
