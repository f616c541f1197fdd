"""Findings as exceptions, warnings and notes, in the words and the form that the linter has."""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from shapedoc.core.finding import Finding, Report
from shapedoc.report import Context, renderer

__all__ = ["ShapeError", "ShapeWarning", "hide_own_frames", "text_of_finding", "warn_of"]

_OWN = tuple(str(Path(__file__).parents[1] / part) + os.sep for part in ("integrations", "runtime"))


class ShapeError(TypeError):
    """An argument or a result whose shape is not the stated one, or a finding that was asked to be an error.

    findings: what it is about.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n\n".join(text_of_finding(f) for f in self.findings))

    def __reduce__(self) -> tuple[type[ShapeError], tuple[tuple[Finding, ...]]]:
        """Pickle by the findings, so that it comes back from another process."""
        return type(self), (self.findings,)


class ShapeWarning(UserWarning):
    """Something that runs and computes something else than was meant. finding: what it is about."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(text_of_finding(finding))


# Both are told by the name that they are imported by.
ShapeError.__module__ = ShapeWarning.__module__ = "shapedoc"


def text_of_finding(finding: Finding) -> str:
    """One finding as ``shapedoc lint`` tells it, without the count at the end."""

    def text(path: str) -> str | None:
        return "".join(linecache.getlines(path)) or None

    shown = replace(finding, path=_short(finding.path))
    context = Context(text_of=lambda path: text(finding.path if path == shown.path else path))
    lines = list(renderer("full")(Report(1, [shown]), context))
    return "\n".join(lines[:-2]).rstrip()


def warn_of(finding: Finding) -> None:
    """Warn of a finding at its own place in the source."""
    module = next((m for m in sys.modules.values() if getattr(m, "__file__", None) == finding.path), None)
    # Without a module Python drops the warning: of code that is none, such as a cell's, the file stands for it.
    name = module.__name__ if module is not None else finding.path
    warnings.warn_explicit(ShapeWarning(finding), ShapeWarning, finding.path, finding.span.line, name)


def _short(path: str) -> str:
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def hide_own_frames(problem: BaseException) -> None:
    """Take the frames of this tool out of an exception's traceback, the one that it has just reached excepted."""
    last = problem.__traceback__
    while last is not None:
        following = last.tb_next
        while following is not None and following.tb_frame.f_code.co_filename.startswith(_OWN):
            following = following.tb_next
        last.tb_next = following
        last = following
