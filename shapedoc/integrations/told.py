"""Findings as exceptions, warnings and notes, in the words and the form that the linter has."""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace

from shapedoc.core.finding import Finding, Report
from shapedoc.report import Context, renderer

__all__ = ["ShapeError", "ShapeWarning", "text_of_finding", "warn_of"]


class ShapeError(TypeError):
    """An argument or a result whose shape is not the stated one, or a finding that was asked to be an error.

    findings: what it is about.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n" + "\n".join(text_of_finding(f) for f in self.findings))


class ShapeWarning(UserWarning):
    """Something that runs and computes something else than was meant. finding: what it is about."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__("\n" + text_of_finding(finding))


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
