"""What a recording shows: the rules' findings on its trace, and what an error in it was about."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Span
from shapedoc.core.trace import Call, Event, Operand, Trace
from shapedoc.core.value import Layer, Unknown, Value
from shapedoc.rules import all_rules
from shapedoc.runtime.active import at_work
from shapedoc.runtime.explain import explain
from shapedoc.runtime.places import source_file
from shapedoc.runtime.recorder import RunRecorder
from shapedoc.runtime.watch import watching
from shapedoc.source.suppress import parse_suppressions, skips_file
from shapedoc.source.written import written_in

__all__ = ["Recording", "record"]

_GRAVITY: dict[Severity, int] = {"note": 0, "warning": 1, "error": 2}


@dataclass(slots=True)
class Recording:
    """One watched run.

    error: the exception that it ended in. recorder: everything that it saw. handled: where operations raised what the
    program dealt with, as paths and lines, known once the findings are.
    """

    recorder: RunRecorder
    error: BaseException | None = None
    handled: set[tuple[str, int]] = field(default_factory=set)
    _found: list[Finding] | None = field(default=None, repr=False)

    @property
    def trace(self) -> Trace:
        """The trace of the run, told of the file that ran first."""
        return self.recorder.trace

    def traces(self) -> list[Trace]:
        """One trace for each watched file that did anything, with the spans of that file as its own."""
        main = self.recorder.trace
        others = {e.span.path for e in main.events if e.span.path}
        return [main, *(_retold(main, path) for path in sorted(others))]

    def findings(self) -> list[Finding]:
        """What the rules find in what was done, one for each rule and place; suppressed ones are left out.

        An operation that raised what the program then dealt with is none that went wrong.
        """
        if self._found is None:
            ended = _chain(self.error)
            for problem, event in self.recorder.failures:
                if id(problem) not in ended:
                    self.handled.add((event.span.path or self.trace.path, event.span.line))
                    event.op, event.short, event.operands, event.problems = "handled", "handled", (), ()
                    event.result = Unknown("it raised")
            self._found = [f for trace in self.traces() if trace.path for f in _of_file(trace)]
        return self._found

    def explanation(self) -> Finding | None:
        """What the exception that ended the run was about."""
        return explain(self.error, self.recorder) if isinstance(self.error, Exception) else None


def _chain(error: BaseException | None) -> set[int]:
    """An exception, what it was raised from, and what was being handled when it was raised, by identity."""
    found: set[int] = set()
    pending = [error]
    while pending:
        one = pending.pop()
        if one is not None and id(one) not in found:
            found.add(id(one))
            pending += (one.__cause__, one.__context__)
    return found


@contextmanager
def record(watched: Callable[[str], bool]) -> Iterator[Recording]:
    """Record what code of the watched files does in this block; what it raises goes on."""
    recording = Recording(RunRecorder(watched))
    try:
        with at_work(watched), watching(recording.recorder):
            yield recording
    except BaseException as problem:
        recording.error = problem
        raise


def _of_file(trace: Trace) -> list[Finding]:
    best: dict[tuple[str, Span], Finding] = {}
    for rule in all_rules():
        try:
            found = [f for f in rule.check(trace) if f.path == trace.path]
        except Exception:  # A rule that cannot read this trace says nothing.
            if os.environ.get("SHAPEDOC_DEBUG"):
                raise
            continue
        for finding in found:
            key = (finding.code, finding.span)
            if key not in best or _GRAVITY[finding.severity] > _GRAVITY[best[key].severity]:
                best[key] = finding
    source = source_file(trace.path)
    if source is None:
        return list(best.values())
    if skips_file(source.module.comments):
        return []
    return parse_suppressions(source.module.comments).split(list(best.values()), source.module)[0]


def _retold(trace: Trace, path: str) -> Trace:
    """The same trace as that of another file."""
    source = source_file(path)
    text = source.text if source is not None else ""
    told = Trace(path, text, unknown=trace.unknown, look=cache(partial(written_in, text)))
    layers: dict[int, Layer] = {}

    def place(span: Span) -> Span:
        if span.path == path:
            return replace(span, path="")
        return replace(span, path=trace.path) if not span.path and span.line else span

    def value(one: Value) -> Value:
        if isinstance(one, Layer):
            if one.uid not in layers:
                layers[one.uid] = replace(one, span=place(one.span))
            return layers[one.uid]
        return one

    def operand(one: Operand) -> Operand:
        span = place(one.span) if one.span is not None else None
        return replace(one, span=span, value=value(one.value), parts=tuple(operand(p) for p in one.parts))

    def call(one: Call) -> Call:
        return replace(one, span=place(one.span))

    def event(one: Event) -> Event:
        return replace(
            one,
            span=place(one.span),
            operands=tuple(operand(o) for o in one.operands),
            result=value(one.result),
            calls=tuple(call(c) for c in one.calls),
        )

    told.events = [event(e) for e in trace.events]
    told.entries = list(trace.entries)
    return told
