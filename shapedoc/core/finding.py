"""What the tool reports: findings, and the report of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from shapedoc.core.fix import Fix
from shapedoc.core.span import Label, Span
from shapedoc.core.statistics import Statistics

__all__ = ["FileError", "Finding", "Report", "Severity"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: which tensor, its shape, the right shape, where each size came from, why, and what to do.

    ``span`` stands on the fault; the place where it shows is a label. ``actual`` and ``expected`` are shapes
    in the user's own names, such as ``(batch_size, T_enc)``. In a notebook, spans count the lines of all its code
    cells together. ``reached``, where the fault stands in a file that the analysed one imports, is the call in the
    analysed file that leads to it. ``follows``: it was read from what comes of operands that do not fit, which another
    finding tells. ``causes`` names what it comes of, where several findings of one rule and file may come of the same:
    they are told as one.
    """

    code: str
    name: str
    severity: Severity
    path: str
    span: Span
    message: str
    function: str = ""
    tensor: str = ""
    actual: str = ""
    expected: str = ""
    labels: tuple[Label, ...] = ()
    why: str = ""
    help: str = ""
    notes: tuple[str, ...] = ()
    fix: Fix | None = None
    test: str | None = None
    reached: Span | None = None
    follows: bool = field(default=False, compare=False)
    causes: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be read, and why."""

    path: str
    message: str


@dataclass(slots=True)
class Report:
    """Everything that one run has to say; ``paths`` names the files that were read, ``files`` counts them.

    ``old`` counts those of them that only an older Python could read, and of which no finding says so.
    """

    files: int = 0
    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    paths: list[str] = field(default_factory=list)
    old: int = 0
