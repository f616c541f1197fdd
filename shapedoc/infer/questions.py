"""What a test asks, and what a branch where it was answered so learnt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Run
from shapedoc.core.value import Bool, Float, Int, NoneValue, Str, Value

__all__ = ["Answer", "Question"]

_PLAIN = Bool | Float | Int | NoneValue | Str


@dataclass(slots=True, eq=False)
class Question:
    """What a test asks (`text`), of which values, and whether it asks the opposite."""

    text: str
    values: tuple[Value, ...]
    negated: bool = False

    def same(self, other: Question) -> bool:
        """Whether both are answered alike: nothing that is asked has changed."""
        return self.text == other.text and all(map(_same, self.values, other.values))


@dataclass(slots=True, eq=False)
class Answer:
    """What a walk through the branch where a question was answered so learnt, and made of what was joined after it.

    variables: by name, what stands for all branches, and what this one left.
    """

    question: Question
    sizes: Mapping[Sym, Dim]
    runs: Mapping[Run, tuple[Axis | Run, ...]]
    variables: Mapping[str, tuple[Value, Value]]


def _same(one: Value, other: Value) -> bool:
    return one is other or (isinstance(one, _PLAIN) and one == other)
