"""What a prescription is worked out on: one file, what was seen in it, what was found, and its syntax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.engine import Settings
from shapedoc.engine.analysis import Study, study
from shapedoc.prescribe.syntax import Syntax

__all__ = ["Bench"]


@dataclass(slots=True)
class Bench:
    """One file on the bench.

    trace: every operation. findings: all of the file, notes left out. syntax: where edits are anchored.
    """

    path: str
    text: str
    settings: Settings
    trace: Trace
    findings: Sequence[Finding]
    syntax: Syntax
    _again: dict[str, Study] = field(default_factory=dict)
    _alone: dict[tuple[str, str], Study] = field(default_factory=dict)

    @staticmethod
    def of(path: str, text: str, settings: Settings) -> Bench:
        """Put a file on the bench. Raises SourceError where it cannot be read."""
        seen = study(path, text, settings)
        return Bench(path, text, settings, seen.trace, seen.findings, Syntax.of(text))

    def again(self, text: str) -> Study:
        """What is seen and found in an edited text. Raises SourceError where it does not parse."""
        if text not in self._again:
            self._again[text] = study(self.path, text, self.settings)
        return self._again[text]

    def alone(self, text: str, name: str) -> Study:
        """What one class of a text shows when it is walked by itself. Raises SourceError where it does not parse."""
        if (text, name) not in self._alone:
            without = frozenset((*self.settings.without, "driver"))
            self._alone[text, name] = study(self.path, text, replace(self.settings, without=without), name)
        return self._alone[text, name]

    def events(self, span: Span) -> list[Event]:
        """The events that stand exactly at a span, those of every walk."""
        return [event for event in self.trace.events if event.span == span]

    def touching(self, finding: Finding) -> list[Event]:
        """The events that a finding is about, the likeliest first.

        Those that stand on it, those that have it as an operand, those that it lies in, those that its labels name.
        """
        span = finding.span
        exact = self.events(span)
        used = [e for e in self.trace.events if any(o.span == span for o in e.operands)]
        around = [e for e in self.trace.events if not e.span.path and e.span.contains(span)]
        labelled = [e for label in finding.labels for e in self.events(label.span)]
        return list(dict.fromkeys((*exact, *used, *around, *labelled)))
