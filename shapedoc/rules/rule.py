"""What a rule is: its text, its examples and its check, together in one file of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.trace import Trace

__all__ = ["Example", "Rule"]


@dataclass(frozen=True, slots=True)
class Example:
    """A complete program that shows a fault, or shows it mended.

    code: a module with all its imports that defines the model and runs it at the bottom. The faulty line of a bad one
    ends in ``# <- SDxxx``. raises: the exception it ends in, "" when it runs. A pair of a silent bad example and the
    good one at the same place both leave a tensor or array called ``result``; the two must differ.
    """

    code: str
    raises: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of fault. `code` and `name` are public: they stand in configurations, suppressions and reports.

    summary: one sentence. what: what it does. why: why that is wrong. instead: what to write. source: paper and
    equation, or documentation page. fix: when a fix is offered and how safe it is. bad, good: examples, run as tests.
    check: reads the trace and yields findings; None where the source layer or the engine finds it.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    what: str
    why: str
    instead: str
    source: str
    bad: tuple[Example, ...]
    good: tuple[Example, ...]
    check: Callable[[Trace], Iterable[Finding]]
    fix: str = "No fix is offered."
    kind: Literal["loud", "silent", "both"] = "both"
