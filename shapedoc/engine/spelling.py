"""Paths as the user spells them: files that an import led to are known by their whole path at first."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label, Span

__all__ = ["Spelling"]


class Spelling:
    """How each file is called: as it was found in this run, or else from the current folder where it lies there."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._known = {os.path.realpath(path): path for path in paths}
        self._here = os.path.realpath(os.curdir)

    def path(self, path: str) -> str:
        """The user's spelling of a whole path; any other path stays as it is."""
        if not os.path.isabs(path):
            return path
        if path in self._known:
            return self._known[path]
        return os.path.relpath(path, self._here) if path.startswith(os.path.join(self._here, "")) else path

    def finding(self, finding: Finding) -> Finding:
        """The finding with the paths of its own place and of its labels so spelled."""
        path = self.path(finding.path)
        labels = tuple(self._label(label) for label in finding.labels)
        if path == finding.path and labels == finding.labels:
            return finding
        reached = None if finding.reached is None else self._span(finding.reached)
        return replace(finding, path=path, span=self._span(finding.span), labels=labels, reached=reached)

    def _label(self, label: Label) -> Label:
        span = self._span(label.span)
        return label if span is label.span else Label(span, label.text)

    def _span(self, span: Span) -> Span:
        path = self.path(span.path)
        return span if path == span.path else replace(span, path=path)
