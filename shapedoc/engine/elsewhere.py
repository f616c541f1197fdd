"""Findings that stand in another file than the one analysed: faults that its calls reach in what it imports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from shapedoc.core.finding import FileError, Finding
from shapedoc.core.span import Label
from shapedoc.source.lowered import lowered
from shapedoc.source.parse import SourceError
from shapedoc.source.read import read_source
from shapedoc.source.suppress import parse_suppressions, skips_file

__all__ = ["Comment", "named_labels", "not_silenced"]

Comment = tuple[str, int]
"""A comment that silences something: its file, and its line."""


def named_labels(findings: Iterable[Finding], path: str) -> list[Finding]:
    """The findings of the file at `path`, in which whatever of a finding elsewhere stands here says so."""
    return [finding if finding.path == path else _named(finding, path) for finding in findings]


def not_silenced(findings: Sequence[Finding], path: str) -> tuple[list[Finding], list[Comment]]:
    """The findings that no comment silences in the file where they stand, and the comments elsewhere that did so."""
    kept = [finding for finding in findings if finding.path == path]
    used: list[Comment] = []
    elsewhere = sorted((finding for finding in findings if finding.path != path), key=lambda finding: finding.path)
    for place, here in groupby(elsewhere, key=lambda finding: finding.path):
        remaining, comments = _split(place, list(here))
        kept += remaining
        used += [(place, line) for line in comments]
    return kept, used


def _named(finding: Finding, path: str) -> Finding:
    labels = tuple(
        label if label.span.path else Label(replace(label.span, path=path), label.text) for label in finding.labels
    )
    reached = None if finding.reached is None else replace(finding.reached, path=path)
    return replace(finding, labels=labels, reached=reached)


def _split(path: str, findings: list[Finding]) -> tuple[list[Finding], list[int]]:
    source = read_source(Path(path))
    if isinstance(source, FileError):
        return findings, []
    try:
        module = lowered(source.text)
    except SourceError:
        return findings, []
    if skips_file(module.comments):
        return [], []
    suppressions = parse_suppressions(module.comments)
    here = {replace(finding, reached=None): finding for finding in findings}
    kept, unused = suppressions.split(list(here), module)
    used = {line for line, stated in suppressions.by_line.items() if not set(stated) <= set(unused)}
    return [here[finding] for finding in kept], sorted(used) if len(kept) < len(here) else []
