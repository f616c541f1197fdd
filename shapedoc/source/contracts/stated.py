"""What an author states of a shape, before anybody knows whether it is true.

Nothing here needs an interpreter: a size is an expression over names as they were written, and what those names
stand for is decided by whoever reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from shapedoc.core.value import Kind
from shapedoc.source.ir import Span4

__all__ = [
    "Anonymous",
    "Bound",
    "Difference",
    "DimExpr",
    "Form",
    "Named",
    "Number",
    "Product",
    "Quotient",
    "Rest",
    "StatedShape",
    "Sum",
    "Unreadable",
    "Where",
    "show_dims",
]

Form = Literal["comment", "explicit", "docstring", "annotation", "suffix"]
Where = Literal["before", "after", "either", "left", "right"]


@dataclass(frozen=True, slots=True)
class Number:
    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Named:
    """A size with a name, which may be of several words.

    equals: what the author says that it is (``seq_len=1``, ``len_q(=len_k)``, ``L' = L - 1``). broadcasts: it may also
    be 1 (``#n`` in jaxtyping).
    """

    name: str
    equals: DimExpr | None = None
    broadcasts: bool = False

    @property
    def key(self) -> str:
        """The name as an identifier: ``batch size`` is ``batch_size``, ``self.hidden_dim`` is ``hidden_dim``."""
        return _identifier(self.name)

    def __str__(self) -> str:
        return self.name if self.equals is None else f"{self.name}={self.equals}"


@lru_cache(maxsize=4096)
def _identifier(name: str) -> str:
    last = name.rpartition(".")[2].lstrip("#")
    return re.sub(r"[\s-]+", "_", last)


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[DimExpr, ...]

    def __str__(self) -> str:
        return " + ".join(str(t) for t in self.terms)


@dataclass(frozen=True, slots=True)
class Difference:
    left: DimExpr
    right: DimExpr

    def __str__(self) -> str:
        return f"{self.left} - {_inside(self.right)}"


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple[DimExpr, ...]

    def __str__(self) -> str:
        return "*".join(_inside(f) for f in self.factors)


@dataclass(frozen=True, slots=True)
class Quotient:
    """A division; ``/`` and ``//`` are not told apart, since a size is a whole number."""

    left: DimExpr
    right: DimExpr

    def __str__(self) -> str:
        left = str(self.left) if isinstance(self.left, Product) else _inside(self.left)
        return f"{left}//{_inside(self.right)}"


@dataclass(frozen=True, slots=True)
class Anonymous:
    """One axis of which nothing is said (``_``, ``?``, ``-1``), or in words that are no size (``max(lens)``)."""

    text: str = "_"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Rest:
    """Any number of axes: ``...``, ``*``, ``*batch``."""

    name: str = ""

    def __str__(self) -> str:
        return "*" + self.name if self.name else "..."


DimExpr = Number | Named | Sum | Difference | Product | Quotient | Anonymous | Rest


@dataclass(frozen=True, slots=True)
class StatedShape:
    """One shape that somebody wrote down.

    name: the value it is said of, as written (``x``, ``self.weight``), or None where only the place tells.
    where: of the value as the statement leaves it (after) or finds it (before: the left side of an arrow); an operand
    of the product on the line (left, right); or, for a comment on a line of its own without a name, of what stands
    above or below (either). index: it is of this component of a tuple, ``((b, h), (b, h))``; of: out of how many.
    sure: written in a form that means a shape and nothing else. What is not sure may fill a gap in what is known, and
    is never the ground of a finding. kind: what the elements are said to be, "" where nothing is said.
    """

    name: str | None
    dims: tuple[DimExpr, ...]
    form: Form
    span: Span4
    text: str
    where: Where = "after"
    sure: bool = True
    index: int | None = None
    of: int = 1
    alternatives: tuple[tuple[DimExpr, ...], ...] = field(default=())
    kind: Kind = ""
    prose: bool = False

    @property
    def rank(self) -> int | None:
        """The number of axes, unless there is a run in it."""
        return None if any(isinstance(d, Rest) for d in self.dims) else len(self.dims)

    def __str__(self) -> str:
        return " or ".join(show_dims(d) for d in (self.dims, *self.alternatives))


@dataclass(frozen=True, slots=True)
class Bound:
    """A stated shape with what it is said of.

    name: the dotted name of a variable, attribute or parameter, or "" for the value of the statement itself (a
    ``return``, an expression, an assignment to ``x[i]``). index: only this component of the value, a tuple.
    """

    name: str
    shape: StatedShape
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that can only be meant as a shape, and cannot be read as one."""

    span: Span4
    text: str
    reason: str


def show_dims(dims: tuple[DimExpr, ...]) -> str:
    """The dims as a shape is printed: ``(B, T)``, ``(B,)``, ``()``."""
    return f"({dims[0]},)" if len(dims) == 1 else f"({', '.join(str(d) for d in dims)})"


def _inside(dim: DimExpr) -> str:
    """A dim as an operand."""
    text = str(dim)
    compound = isinstance(dim, Sum | Difference | Product | Quotient) or (isinstance(dim, Named) and dim.equals)
    return f"({text})" if compound else text
