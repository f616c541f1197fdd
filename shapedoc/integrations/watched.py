"""Running one call of a checked function: recorded in full, only followed, or neither, and what comes of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from shapedoc.core.finding import Finding
from shapedoc.integrations.told import ShapeError, text_of_finding, warn_of
from shapedoc.runtime.active import is_followed, is_foreseen, is_recording
from shapedoc.runtime.patterns import Pattern, Seen

if TYPE_CHECKING:
    from shapedoc.runtime.foreseen import AsForeseen, Foreseen
    from shapedoc.runtime.recording import Recording
    from shapedoc.runtime.sites import Failure, Sites
    from shapedoc.source.ir import Span4

__all__ = ["Options", "Watch", "best", "note", "tell"]

_Mode = TypeVar("_Mode", "AsForeseen", "Sites")

# Patterns of one function that are recorded, and calls whose signature falls due again; after that every 2^k-th.
_RECORDED, _RECORDED_AGAIN = 16, 256
_MOST_PATTERNS = 1024
# The files of all checked functions: they are watched together.
_paths: set[str] = set()
_told: set[tuple[str, str, int, int]] = set()


class Options:
    """How a function is checked.

    on_finding: "warn" or "raise" (errors only). record: watch the first calls. ahead: what can be done before the first
    call is done at the decoration.
    """

    def __init__(self, on_finding: str = "warn", record: bool = True, *, ahead: bool = False) -> None:
        if on_finding not in ("warn", "raise"):
            raise ValueError(f'`on_finding` is "warn" or "raise", not {on_finding!r}')
        self.on_finding = on_finding
        self.record = record
        self.ahead = ahead


class Watch:
    """What one function's calls have shown so far.

    path: the file that it stands in, "" where it is unknown. has_steps: it has loops, whose states a rule may have to
    see again. again: the last call went a way that no recorded one has gone, so the next one is recorded.
    """

    def __init__(self, path: str, options: Options) -> None:
        self.path = path
        self.options = options
        self.has_steps = False
        self.again = False
        self.was_read = False
        self.patterns = Seen()
        self.recordings = 0
        self.foreseen: dict[frozenset[str], Foreseen] = {}
        if path and not path.startswith("<"):
            _paths.add(path)

    def run(
        self,
        call: Callable[..., Any],
        pattern_of: Callable[[], Pattern],
        *,
        recorded: bool,
        absent: frozenset[str] | None = None,
        read: Callable[[], list[Finding]] | None = None,
    ) -> Any:
        """Run one call of a signature that has not been verified, or with `recorded` one that is recorded in any case.

        call: the function with its arguments, and perhaps with a context `around` what it does. pattern_of: gives the
        signature up to its numbers. absent: the arguments that are None, where all others are tensors of a shape and of
        elements that are stated. read: of code that no recorder sees, what reading it finds.
        """
        __tracebackhide__ = True
        if not self.path or not self.options.record or (read is None and sys.modules.get("torch") is None):
            return self._plain(call)
        if is_recording(self.path):
            self._learn(pattern_of())
            return call()
        if is_recording():
            return self._plain(call)
        if is_foreseen() and not recorded:
            return call()
        if absent is not None and absent in self.foreseen and not recorded and not self.again and read is None:
            return self._as_foreseen(call, absent)
        pattern = pattern_of()
        if not recorded and not self.again and pattern in self.patterns:
            if read is not None:
                return self._plain(call)
            return call() if is_followed() else self._follow(call)
        number = self.recordings + 1
        if number > (_RECORDED_AGAIN if recorded else _RECORDED) and number & (number - 1):
            self.recordings = number
            return self._plain(call)
        return self._record(call, pattern) if read is None else self._read(call, pattern, read)

    def _learn(self, pattern: Pattern) -> None:
        if len(self.patterns) >= _MOST_PATTERNS:
            self.patterns.clear()
        self.patterns.add(pattern)

    def _plain(self, call: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        from shapedoc.runtime.explain import explain

        try:
            return call()
        except Exception as problem:
            note(problem, explain(problem, None, lambda path: path == self.path))
            raise

    def _follow(self, call: Callable[..., Any]) -> Any:
        __tracebackhide__ = True
        from shapedoc.runtime.sites import Sites

        out, sites = self._under(call, Sites)
        self.again = not sites.is_known()
        return out

    def _as_foreseen(self, call: Callable[..., Any], absent: frozenset[str]) -> Any:
        __tracebackhide__ = True
        from shapedoc.runtime.foreseen import AsForeseen

        out, followed = self._under(call, partial(AsForeseen, self.foreseen[absent]))
        if not followed.went_as_foreseen():
            self.again = True
            self.foreseen.pop(absent, None)
        return out

    def _under(self, call: Callable[..., Any], mode: Callable[..., _Mode]) -> tuple[Any, _Mode]:
        """Run a call under a mode that follows it; an operation that raises is recorded by itself."""
        __tracebackhide__ = True
        from shapedoc.runtime.eager import as_written

        found: list[Recording] = []

        def failed(failure: Failure) -> None:
            from shapedoc.runtime.failures import recording_of_failure

            one = recording_of_failure(failure, _paths.__contains__) if len(found) < 8 else None
            found.extend([one] if one is not None else [])

        following = mode(_paths.__contains__, failed)
        try:
            with as_written():
                return call(around=following), following
        except Exception as problem:
            one = next((r for r in found if r.error is problem), None)
            if one is not None:
                note(problem, best(one))
                raise
            from shapedoc.runtime.explain import explain

            note(problem, explain(problem, None, _paths.__contains__))
            raise

    def _read(self, call: Callable[[], Any], pattern: Pattern, read: Callable[[], list[Finding]]) -> Any:
        __tracebackhide__ = True
        from shapedoc.runtime.explain import explain

        found = read()
        try:
            out = call()
        except Exception as problem:
            note(problem, _on_the_line(explain(problem, None, lambda path: path == self.path), found))
            raise
        tell(found, self.options)
        self.recordings += 1
        self._learn(pattern)
        return out

    def _record(self, call: Callable[[], Any], pattern: Pattern) -> Any:
        __tracebackhide__ = True
        from shapedoc.runtime.recording import record
        from shapedoc.runtime.sites import Sites

        sites = Sites(_paths.__contains__)
        recording: Recording | None = None
        try:
            with sites, record(_paths.__contains__) as recording:
                recording.recorder.activations.bottom = sys._getframe()
                out = call()
        except Exception as problem:
            if recording is not None and not isinstance(problem, ShapeError):
                note(problem, best(recording))
            raise
        finally:
            if recording is not None:
                recording.recorder.activations.bottom = None
            if recording is not None and recording.error is None:
                self.has_steps = self.has_steps or any(e.loops for e in recording.trace.events)
                tell(self._found(recording), self.options)
        self.again = False
        self.recordings += 1
        self._learn(pattern)
        sites.judged()
        return out

    def _found(self, recording: Recording) -> list[Finding]:
        """What the recording shows; the first time also what the linter reads in the functions that ran.

        A recording begins with the call: what the constructor built before it, a mask or a layer, is read.
        """
        if self.was_read:
            return recording.findings()
        self.was_read = True
        from shapedoc.integrations.reading import read_functions
        from shapedoc.runtime.combine import combined, executed

        places: dict[str, set[Span4]] = {}
        for path, span in recording.recorder.activations.definitions:
            places.setdefault(path, set()).add(span)
        read = [f for path, spans in places.items() for f in read_functions(path, spans)]
        return combined(recording.findings(), read, executed(recording), None, recording.handled)


def best(recording: Recording) -> Finding | None:
    """What explains an exception best: a rule's finding on the line that raised, else the place and its shapes."""
    raised = recording.explanation()
    return _on_the_line(raised, recording.findings()) if raised is not None else None


def _on_the_line(raised: Finding | None, findings: list[Finding]) -> Finding | None:
    if raised is None:
        return None
    for finding in findings:
        spans = [finding.span, *(label.span for label in finding.labels)]
        if finding.severity == "error" and any(s.line <= raised.span.line <= s.end_line for s in spans):
            return finding
    return raised


def note(problem: BaseException, finding: Finding | None) -> None:
    """Put an explanation under an exception; it stays what it is."""
    if finding is not None and not any("[SD" in n for n in getattr(problem, "__notes__", ())):
        problem.add_note("\n" + text_of_finding(finding))


def tell(findings: list[Finding], options: Options) -> None:
    """Warn of findings, each once in a process; errors are raised where the options say so."""
    errors = [f for f in findings if f.severity == "error"]
    if errors and options.on_finding == "raise":
        raise ShapeError(errors)
    for finding in findings:
        key = (finding.code, finding.path, finding.span.line, finding.span.column)
        if finding.severity != "note" and key not in _told:
            _told.add(key)
            warn_of(finding)
