"""The three answers that inference has."""

from __future__ import annotations

from dataclasses import dataclass

from shapedoc.core.trace import Problem
from shapedoc.core.value import Value

__all__ = ["Conflict", "Known", "Lost", "Unknown", "Verdict"]


class Lost(Exception):
    """Raised inside an op that cannot follow its arguments; becomes an Unknown verdict."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Known:
    """The result is known (its shape may still have unknown parts)."""

    value: Value


@dataclass(slots=True)
class Unknown:
    """The result cannot be known, for this reason; `value` still carries where it came from."""

    reason: str
    value: Value


@dataclass(slots=True)
class Conflict:
    """The operands do not fit; `value` is what would have come out had they fitted."""

    problems: tuple[Problem, ...]
    value: Value


Verdict = Known | Unknown | Conflict
