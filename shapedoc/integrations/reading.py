"""NumPy code: its functions have no hook for a recorder, so a call is read as the linter reads, with its real shapes.

The file of the function is analysed as it stands, with one more line that calls the function with arrays of the shapes
of this very call. Nothing is executed for that, and what the call computes is left alone.
"""

from __future__ import annotations

import keyword
import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.runtime.contracts import definition_of
from shapedoc.runtime.places import Place, SourceFile, source_file
from shapedoc.source import ir
from shapedoc.source.folded import with_and_without
from shapedoc.source.suppress import parse_suppressions, skips_file

if TYPE_CHECKING:
    from shapedoc.runtime.foreseen import Foreseen

__all__ = ["foresee", "is_numpy_call", "place_ahead", "read_ahead", "read_call", "read_functions", "untold"]

# A longer file would take more than a second, in the middle of a program.
_MOST_LINES = 4000
# A longer one is not read before it is called.
_MOST_LINES_AHEAD = 400
_DRAWN = {"b": "numpy.random.normal(size={0}) > 0", "i": "numpy.random.randint(0, 2, size={0})"}


def is_numpy_call(values: Mapping[str, Any]) -> bool:
    """Whether arrays of NumPy go into a call, and no tensor of torch does."""
    flat = list(_flat(values.values()))
    arrays = any(type(v).__module__ == "numpy" and hasattr(v, "strides") for v in flat)
    torch = sys.modules.get("torch")
    return arrays and not (torch is not None and any(isinstance(v, torch.Tensor | torch.nn.Module) for v in flat))


def read_call(function: Callable[..., Any], values: Mapping[str, Any]) -> list[Finding]:
    """What the linter finds in a function, and in those of its file that it calls, with arguments of these shapes."""
    if not isinstance(function, FunctionType):
        return []
    source = source_file(function.__code__.co_filename)
    if source is None or skips_file(source.module.comments):
        return []
    name = function.__qualname__.rpartition("<locals>.")[2]
    text = source.text
    if name == function.__qualname__ and name.isidentifier() and function.__globals__.get(name) is not None:
        text = f"{source.text.rstrip()}\n\n{_driver(name, values)}"
    seen, found = _studied(source.path, text)
    last = source.text.count("\n") + 1
    inside = {name, *(e.function for e in seen.events if any(c.function == name for c in e.calls))}
    told = [_without_driver(f, last) for f in found if f.function in inside and f.span.line <= last]
    return parse_suppressions(source.module.comments).split(told, source.module)[0]


def read_functions(path: str, definitions: Collection[ir.Span4]) -> list[Finding]:
    """What the linter finds in these functions of a file, suppressions honoured; nothing where it cannot be read."""
    source = source_file(path)
    if source is None or skips_file(source.module.comments):
        return []
    every = [p.node.span for p in source.definitions]
    found = []
    for finding in _found(source.path, source.text):
        around = [span for span in every if span[0] <= finding.span.line <= span[2]]
        if around and max(around) in definitions:
            found.append(finding)
    return parse_suppressions(source.module.comments).split(found, source.module)[0]


def place_ahead(function: FunctionType) -> tuple[SourceFile, Place] | None:
    """Where a function stands that may be read before it is called."""
    source, place = definition_of(function)
    if source is None or place is None or source.text.count("\n") > _MOST_LINES_AHEAD:
        return None
    return source, place


def untold(source: SourceFile, plan: Foreseen, found: Collection[Finding] = ()) -> bool:
    """Whether there is nothing to tell in what a plan runs through; found: what is besides what its file shows."""
    told = [s for f in (*_found(source.path, source.text), *found) for s in (f.span, *(la.span for la in f.labels))]
    return not any(s.line <= d[2] and s.end_line >= d[0] for s in told for d in plan.definitions)


def foresee(function: FunctionType, optional: str = "") -> dict[frozenset[str], Foreseen]:
    """What calls of a function do whose annotations state every argument, by the arguments that they leave out.

    optional: the one that may be None. Left out is what reading leaves open, and what there is something to tell of,
    in the function or in those of its file that it calls.
    """
    found = place_ahead(function)
    if found is None:
        return {}
    from shapedoc.engine.analysis import study_one
    from shapedoc.runtime.foreseen import foreseen, is_straight

    source, place = found
    definition = place.node
    assert isinstance(definition, ir.FunctionDef)
    plans: dict[frozenset[str], Foreseen] = {}
    for absent in ((), (optional,)) if optional else ((),):
        if optional:
            given = (optional,) if not absent else ()
            module, read = with_and_without(source.module, definition, given, absent)
        else:
            module, read = source.module, definition
        if not is_straight(read):
            continue
        more: list[Finding] = []
        if optional:
            one = study_one(source.path, source.text, module, place.owner or definition.name)
            trace, more = one.trace, one.findings
        else:
            trace = _studied(source.path, source.text)[0]
        plan = foreseen(trace, function.__code__, source, place)
        if plan is not None and untold(source, plan, more):
            plans[frozenset(absent)] = plan
    return plans


def read_ahead(function: FunctionType) -> None:
    """Read the file of a function whose first call will be recorded, and load what records."""
    import shapedoc.runtime.recording
    import shapedoc.runtime.sites  # noqa: F401

    found = place_ahead(function)
    if found is not None:
        _found(found[0].path, found[0].text)


@lru_cache(maxsize=64)
def _found(path: str, text: str) -> list[Finding]:
    return _studied(path, text)[1]


# Traces are large, and are asked for only while the functions of a file are decorated.
@lru_cache(maxsize=8)
def _studied(path: str, text: str) -> tuple[Trace, list[Finding]]:
    from shapedoc.engine.analysis import study
    from shapedoc.engine.request import Settings

    if text.count("\n") > _MOST_LINES:
        return Trace(path, text), []
    try:
        studied = study(path, text, Settings())
    except Exception:  # A file that does not parse, or a fault of the reader, which is not the program's.
        if os.environ.get("SHAPEDOC_DEBUG"):
            raise
        return Trace(path, text), []
    return studied.trace, [f for f in studied.findings if f.path == path]


def _driver(name: str, values: Mapping[str, Any]) -> str:
    """The line that makes the call again, with other numbers in arrays of the same shapes."""
    given = ", ".join(f"{n}={_written(v)}" for n, v in values.items() if n.isidentifier() and not keyword.iskeyword(n))
    return f"import numpy\n\n{name}({given})\n"


def _written(value: Any) -> str:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return repr(value)
    if kind in (tuple, list):
        inner = ", ".join(_written(v) for v in value)
        return f"[{inner}]" if kind is list else f"({inner},)" if value else "()"
    if hasattr(value, "strides") and hasattr(value, "dtype"):
        letter = "i" if value.dtype.kind == "u" else value.dtype.kind
        return _DRAWN.get(letter, "numpy.random.normal(size={0})").format(tuple(int(n) for n in value.shape))
    return "unknown_to_the_reader"


def _without_driver(finding: Finding, last: int) -> Finding:
    return replace(finding, labels=tuple(label for label in finding.labels if label.span.line <= last))


def _flat(values: Any) -> Any:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _flat(value)
        else:
            yield value
