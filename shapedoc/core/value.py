"""What the recorders know of a Python value.

A value that cannot be followed is `Unknown(reason)`; it is never None. Tensors carry a shape (possibly unknown) and
the index of the event that made them, so that a rule can walk from a tensor back to everything it came from.

Values other than tensors and layers are never changed once built. They are not frozen, because a frozen dataclass costs
three times as much to build, and an analysis builds hundreds of thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Literal

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.span import Span

__all__ = [
    "ANY_ORDER",
    "Bool",
    "Bound",
    "DictValue",
    "Dtype",
    "EllipsisValue",
    "Float",
    "Int",
    "Kind",
    "Layer",
    "Library",
    "NoneValue",
    "Opaque",
    "Order",
    "Seq",
    "SizeOf",
    "SizePart",
    "SliceValue",
    "Str",
    "Tensor",
    "Unknown",
    "Value",
]

Kind = Literal["float", "int", "bool", "complex", ""]
Order = tuple[int, ...] | None
_uids = count(1)


# The order of memory of a tensor of which that is not known.
ANY_ORDER = (-1,)


@dataclass(slots=True, eq=False)
class Tensor:
    """A tensor or an array.

    shape: its axes. kind: what its elements are ("" if unknown). library: "torch" or "numpy". event: the index in the
    trace of the event that made it, or -1. name: what the author calls it. learned: a parameter of the model.
    order: the permutation of a contiguous tensor that its memory lies in ((0, 2, 1) after ``transpose(1, 2)``), None
    when contiguous, `ANY_ORDER` where nothing is known. source: for an input, what it is (a parameter's name).
    """

    shape: Shape
    kind: Kind = ""
    library: Literal["torch", "numpy"] = "torch"
    event: int = -1
    name: str = ""
    learned: bool = False
    order: Order = None
    source: str = ""
    number: float | None = None
    uid: int = field(default_factory=_uids.__next__)


@dataclass(slots=True, unsafe_hash=True)
class Int:
    """A whole number, as a size; `name` is what the author calls it, `place` where a small literal was assigned."""

    dim: Dim
    name: str = ""
    place: Span | None = field(default=None, compare=False)

    @property
    def value(self) -> int | None:
        """The literal number, if there is no symbol in it."""
        return self.dim.const


@dataclass(slots=True, unsafe_hash=True)
class Float:
    """A number: ``value`` where it is known, and the powers of sizes it is made of (``1/sqrt(d_k)`` is d_k^-1/2).

    known: whether `powers` and `value` (the coefficient) say all that the number is.
    """

    value: float | None = None
    powers: tuple[tuple[Dim, Fraction], ...] = ()
    known: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Bool:
    """A truth value; `parameter`: it is the default of this parameter of a constructor, `flag`: of ``forward``."""

    value: bool | None = None
    parameter: str = field(default="", compare=False)
    flag: str = field(default="", compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Str:
    """A string; `parameter` as for Bool."""

    value: str | None = None
    parameter: str = field(default="", compare=False)


@dataclass(slots=True, unsafe_hash=True)
class NoneValue:
    pass


@dataclass(slots=True, unsafe_hash=True)
class EllipsisValue:
    pass


@dataclass(slots=True, unsafe_hash=True)
class Dtype:
    """A dtype: what elements it makes."""

    kind: Kind
    name: str = ""


@dataclass(slots=True, eq=False)
class Seq:
    """A tuple or list, or the modules of a container.

    rest: it goes on with an unknown number of such elements after `items`. length: how many elements it has in all,
    where `rest` is given and that is known (a list that a loop of ``T`` rounds filled). names: those of a named
    tuple's fields (``values`` and ``indices`` of a sort).
    """

    items: tuple[Value, ...]
    kind: Literal["tuple", "list", "set", "modules"] = "tuple"
    rest: Value | None = None
    length: Dim | None = None
    names: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class DictValue:
    """A dict with string (or other literal) keys; `complete` when there are no others."""

    items: Mapping[object, Value]
    complete: bool = True


@dataclass(slots=True, eq=False)
class SliceValue:
    lower: Value
    upper: Value
    step: Value


@dataclass(slots=True, eq=False)
class SizeOf:
    """``x.shape`` of a tensor whose rank is unknown."""

    tensor: Tensor


@dataclass(slots=True, unsafe_hash=True)
class Library:
    """A name of a library: ``torch.nn.functional.softmax``."""

    qualified: str


@dataclass(slots=True, eq=False)
class Bound:
    """A method of a tensor, a layer or a container, not yet called."""

    owner: Value
    method: str


@dataclass(slots=True, eq=False)
class Layer:
    """A library module that has been built: ``nn.Linear(d_h, d_attn)``.

    kind: its qualified name. config: constructor argument name -> value, defaults filled in. span: where it was built.
    name: the attribute it was stored as. uid: which one it is (shared by every use of one layer).
    parameters: its tensors by attribute name (``weight``, ``bias``), built on demand.
    """

    kind: str
    config: Mapping[str, Value]
    span: Span
    name: str = ""
    event: int = -1
    parameters: dict[str, Tensor] = field(default_factory=dict)
    uid: int = field(default_factory=_uids.__next__)


class Opaque:
    """Base of the values that only the recorder understands (the author's functions, classes, instances).

    A parameter that nobody describes can be a size or a tensor, whichever it is used as: see `as_int`, `as_tensor`.
    """

    __slots__ = ()

    @property
    def undecided(self) -> bool:
        """Whether nothing has used the value as a number so far: where sizes stand, it may be several."""
        return False

    @property
    def is_number(self) -> bool:
        """Whether the value counts as a number beside a tensor."""
        return False

    def as_int(self) -> Int | None:
        """The value used as a whole number."""
        return None

    def as_tensor(self) -> Tensor | None:
        """The value used as a tensor."""
        return None


@dataclass(slots=True, eq=False)
class SizePart(Opaque):
    """A part of the shape of a tensor of unknown rank: ``x.shape[:-1]``."""

    items: tuple[Axis | Run, ...]


@dataclass(slots=True, eq=False)
class Unknown:
    """A value that cannot be followed, and why. `events` are what it came from."""

    reason: str
    events: tuple[int, ...] = ()


Value = (
    Tensor
    | Int
    | Float
    | Bool
    | Str
    | NoneValue
    | EllipsisValue
    | Dtype
    | Seq
    | DictValue
    | SliceValue
    | SizeOf
    | Library
    | Bound
    | Layer
    | Opaque
    | Unknown
)
