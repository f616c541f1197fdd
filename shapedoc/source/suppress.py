"""Comments that silence findings.

``# shapedoc: ignore[SD401, missing-transpose]`` and ``# shapedoc: ignore`` on the line, ``# noqa: SD401`` and
``# noqa`` as ruff reads them, ``# shapedoc: skip-file`` on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from shapedoc.core.finding import Finding
from shapedoc.source.ir import Comment, Module, Span4
from shapedoc.source.statements import StatementLines

__all__ = ["IGNORE", "Suppression", "Suppressions", "parse_suppressions", "skips_file"]

IGNORE = re.compile(r"(?:^|#)\s*shapedoc\s*:\s*ignore(?![\w-])\s*(\[([^\]]*)\]?)?", re.IGNORECASE)
_SKIP_FILE = re.compile(r"(?:^|#)\s*shapedoc\s*:\s*skip-file(?![\w-])", re.IGNORECASE)
_NOQA = re.compile(r"(?:^|#)\s*noqa(?![\w-])(\s*:\s*)?", re.IGNORECASE)
_CODE = re.compile(r"[\s,]*([A-Z]+[0-9]+)(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment; ``codes`` are codes or names of rules, None for all of them."""

    span: Span4
    kind: Literal["ignore", "noqa"]
    codes: tuple[str, ...] | None

    def covers(self, finding: Finding) -> bool:
        """Whether the comment means the finding's rule."""
        return self.codes is None or finding.code.upper() in self.codes or finding.name.upper() in self.codes

    def may_cover(self, codes: Collection[str]) -> bool:
        """Whether any of the rules with these codes or names is meant."""
        return self.codes is None or any(code.upper() in self.codes for code in codes)


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All the comments of a file that silence findings."""

    by_line: dict[int, tuple[Suppression, ...]]

    def split(
        self, findings: Sequence[Finding], module: Module, checked: Collection[str] | None = None
    ) -> tuple[list[Finding], list[Suppression]]:
        """The findings that remain, and the ``shapedoc: ignore`` comments that silenced none.

        A comment counts for a finding on the line where its span starts, or on the first or last line of the
        statement there (for a compound statement, of its header). A finding's span may end on a later line of that
        statement, and a comment counts there too. A finding in an imported file counts where it is reached. `checked`
        holds codes and names of the rules that ran: a comment about others is not called unused. ``noqa`` never is,
        since other tools read it as well.
        """
        if not self.by_line:
            return list(findings), []
        lines = StatementLines(module)
        used: set[Suppression] = set()
        kept: list[Finding] = []
        for finding in findings:
            silencing = [s for line in _lines(finding, lines) for s in self.by_line.get(line, ()) if s.covers(finding)]
            if silencing:
                used.update(silencing)
            else:
                kept.append(finding)
        unused = [
            suppression
            for line in sorted(self.by_line)
            for suppression in self.by_line[line]
            if suppression.kind == "ignore" and suppression not in used
            if checked is None or suppression.codes == () or suppression.may_cover(checked)
        ]
        return kept, unused


def _lines(finding: Finding, lines: StatementLines) -> list[int]:
    """The lines on which a comment may silence a finding."""
    span = finding.reached or finding.span
    first, last = lines.of(span.line)
    return sorted({span.line, first, last} | ({span.end_line} & set(range(first, last + 1))))


def skips_file(comments: Sequence[Comment]) -> bool:
    """Whether a comment on a line of its own asks to leave the whole file alone."""
    return any(comment.own_line and _SKIP_FILE.search(comment.text) is not None for comment in comments)


def parse_suppressions(comments: Sequence[Comment]) -> Suppressions:
    """The comments of a file that silence findings, by their line."""
    by_line: dict[int, tuple[Suppression, ...]] = {}
    for comment in comments:
        found = _parse(comment)
        if found:
            by_line[comment.span[0]] = found
    return Suppressions(by_line)


def _parse(comment: Comment) -> tuple[Suppression, ...]:
    """What one comment silences; ``# noqa:`` without a code after it is no comment for a linter, as in ruff."""
    found: list[Suppression] = []
    if match := IGNORE.search(comment.text):
        names = None if match[1] is None else tuple(n.strip().upper() for n in match[2].split(",") if n.strip())
        found.append(Suppression(comment.span, "ignore", names))
    if match := _NOQA.search(comment.text):
        codes = _codes(comment.text, match.end()) if match[1] is not None else None
        if codes != ():
            found.append(Suppression(comment.span, "noqa", codes))
    return tuple(found)


def _codes(text: str, position: int) -> tuple[str, ...]:
    """The codes that a list starts with, separated by commas or blanks."""
    codes: list[str] = []
    while match := _CODE.match(text, position):
        codes.append(match[1].upper())
        position = match.end()
    return tuple(codes)
