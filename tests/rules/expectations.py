"""Programs that say what is found in them: ``# <- SD401`` beside a line, a note as ``# <- note SD401``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shapedoc.core.finding import Finding, Report
from shapedoc.engine.analysis import analyse
from shapedoc.engine.folding import folded
from shapedoc.engine.request import Settings
from shapedoc.report import Context, renderer

__all__ = ["Found", "all_found", "expected", "found", "full_text", "lint", "mended"]

_MARK = re.compile(r"# <- (?:(note) )?(SD\d{3})\s*$")


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """A finding by line and rule, and whether it is a note."""

    line: int
    code: str
    note: bool = False


def lint(text: str, *codes: str) -> list[Finding]:
    """The findings of these rules in a program, by line."""
    findings = analyse("model.py", text, Settings()).findings
    return sorted((f for f in findings if f.code in codes), key=lambda f: f.span)


def found(text: str, *codes: str) -> list[Found]:
    """What these rules find in a program."""
    return sorted(Found(f.span.line, f.code, f.severity == "note") for f in lint(text, *codes))


def all_found(text: str) -> list[Found]:
    """The errors and warnings of every rule in a program, one cause told once."""
    findings = folded(analyse("model.py", text, Settings()).findings)
    return sorted(Found(f.span.line, f.code) for f in findings if f.severity != "note")


def mended(text: str, changes: Sequence[tuple[str, str]]) -> str:
    """A program with these lines as they are in the right one, and no marks."""
    for wrong, right in changes:
        text = text.replace(wrong, right)
    return "\n".join(line.partition("  # <- ")[0] for line in text.split("\n"))


def expected(text: str) -> list[Found]:
    """What a program says is found in it."""
    marks = ((number, _MARK.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return sorted(Found(number, match[2], match[1] == "note") for number, match in marks if match)


def full_text(text: str, *codes: str) -> str:
    """The findings of these rules as they are printed, without the count."""
    report = Report(files=1, findings=lint(text, *codes))
    lines = list(renderer("full")(report, Context(text_of=lambda path: text)))
    return "\n".join(line.rstrip() for line in lines[:-1]).strip()
