"""What stands in a file, whatever of it runs: its functions, the names that they read, the calls in them.

The interpreter tells what happens; that something never happens (a parameter that nothing reads, a scale that is made
and left) stands in no event. It is worked out where a rule asks for it, from the same form that is interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from shapedoc.core.span import Span

__all__ = ["Assigned", "Contents", "Function", "Parameter", "Written", "WrittenCall"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, where it stands in the head, and its default where that is a literal other than None."""

    name: str
    span: Span
    default: object = None


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call: what is called, the name or attribute that each argument by place is ("" for another), literals by name.

    function: where what is called stands. keywords: the names of the arguments by name. open: more are given by ``*``
    or ``**``.
    """

    span: Span
    function: Span
    arguments: tuple[str, ...]
    literals: Mapping[str, object]
    keywords: frozenset[str] = frozenset()
    open: bool = False


@dataclass(frozen=True, slots=True)
class Assigned:
    """``name = value`` or ``self.name = value``: where the value stands, and whether the name is found nowhere else."""

    name: str
    value: Span
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """What a function, a class or a file holds.

    reads: the names that are read. calls: every call, outer before inner. assigned: the names and attributes of
    ``self`` that are given a value. rounds: the names that a ``for`` gives to what it goes through.
    """

    reads: frozenset[str] = frozenset()
    calls: tuple[WrittenCall, ...] = ()
    assigned: tuple[Assigned, ...] = ()
    rounds: frozenset[str] = frozenset()

    @property
    def left(self) -> tuple[Assigned, ...]:
        """What is given a value and named nowhere else."""
        return tuple(a for a in self.assigned if a.alone)


class Function:
    """A function: its name with those of its classes, its parameters, and what its body holds.

    set_aside: the names that calls in it which are commented out are given.
    """

    def __init__(
        self,
        name: str,
        parameters: tuple[Parameter, ...],
        look: Callable[[], Contents],
        aside: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self._look, self._aside = look, aside

    @cached_property
    def contents(self) -> Contents:
        return self._look()

    @cached_property
    def set_aside(self) -> frozenset[str]:
        return self._aside()

    def ignored(self, wanted: Callable[[str], object]) -> list[Parameter]:
        """The parameters with a name that is wanted, and that the body never reads."""
        found = [p for p in self.parameters if wanted(p.name)]
        return [p for p in found if p.name not in self.contents.reads] if found else []


@dataclass(slots=True)
class Written:
    """The functions of a file, and what each of its classes and functions holds, by name.

    scopes: classes and functions that lie in no other, the first of each name.
    """

    functions: tuple[Function, ...] = ()
    scopes: Mapping[str, Callable[[], Contents]] = field(default_factory=dict)
    whole: Callable[[], Contents] = Contents

    def named(self, name: str) -> Iterator[Function]:
        """The functions of this name."""
        return (function for function in self.functions if function.name == name)

    def scope(self, function: str) -> Contents:
        """What the class of a method holds, or a function."""
        look = self.scopes.get(function.split(".")[0])
        return look() if look is not None else Contents()
