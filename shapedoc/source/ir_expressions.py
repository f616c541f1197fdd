"""The expressions of the ir; see ``shapedoc.source.ir``, which exports them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Attribute",
    "BinOp",
    "BoolOp",
    "Call",
    "Compare",
    "Comprehension",
    "Const",
    "Dict",
    "Expr",
    "FString",
    "Generator",
    "IfExp",
    "Lambda",
    "Name",
    "NamedExpr",
    "Opaque",
    "Param",
    "Sequence",
    "Slice",
    "Span4",
    "Starred",
    "Subscript",
    "UnaryOp",
]

Span4 = tuple[int, int, int, int]


@dataclass(slots=True)
class Const:
    """A literal: int, float, complex, str, bytes, bool, None or Ellipsis."""

    span: Span4
    value: object


@dataclass(slots=True)
class Name:
    span: Span4
    id: str


@dataclass(slots=True)
class Attribute:
    """``value.attr``; ``attr_span`` covers the name after the dot."""

    span: Span4
    value: Expr
    attr: str
    attr_span: Span4


@dataclass(slots=True)
class Subscript:
    """``value[index]``; several indices are a Sequence of kind "tuple"."""

    span: Span4
    value: Expr
    index: Expr


@dataclass(slots=True)
class Slice:
    span: Span4
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True)
class Starred:
    """``*value``."""

    span: Span4
    value: Expr


@dataclass(slots=True)
class Call:
    """``func(*args, **keywords)``; a keyword whose name is None is ``**value``."""

    span: Span4
    func: Expr
    args: list[Expr]
    keywords: list[tuple[str | None, Expr]]


@dataclass(slots=True)
class BinOp:
    """``left op right``; op is the operator's text: + - * / // % ** @ & | ^ << >>."""

    span: Span4
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class UnaryOp:
    """op is one of: - + ~ not."""

    span: Span4
    op: str
    operand: Expr


@dataclass(slots=True)
class BoolOp:
    """op is "and" or "or"."""

    span: Span4
    op: str
    values: list[Expr]


@dataclass(slots=True)
class Compare:
    """ops are: == != < <= > >= is, is not, in, not in."""

    span: Span4
    left: Expr
    ops: list[str]
    comparators: list[Expr]


@dataclass(slots=True)
class IfExp:
    span: Span4
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True)
class Sequence:
    """A display: kind is "tuple", "list" or "set"."""

    span: Span4
    kind: Literal["tuple", "list", "set"]
    items: list[Expr]


@dataclass(slots=True)
class Dict:
    """A dict display; a key that is None is ``**value``."""

    span: Span4
    keys: list[Expr | None]
    values: list[Expr]


@dataclass(slots=True)
class Generator:
    """One ``for target in iterable if condition`` of a comprehension."""

    target: Expr
    iterable: Expr
    conditions: list[Expr]


@dataclass(slots=True)
class Comprehension:
    """kind is "list", "set", "generator" or "dict"; `key` only for a dict."""

    span: Span4
    kind: Literal["list", "set", "generator", "dict"]
    key: Expr | None
    element: Expr
    generators: list[Generator]


@dataclass(slots=True)
class Param:
    """A parameter; kind is "pos", "kw" (keyword only), "args" (``*a``) or "kwargs" (``**k``)."""

    span: Span4
    name: str
    kind: Literal["pos", "kw", "args", "kwargs"]
    annotation: Expr | None
    default: Expr | None


@dataclass(slots=True)
class Lambda:
    span: Span4
    params: list[Param]
    body: Expr


@dataclass(slots=True)
class NamedExpr:
    """``(name := value)``."""

    span: Span4
    target: Name
    value: Expr


@dataclass(slots=True)
class FString:
    """An f-string; the expressions in it, format specifications left out.

    Everything inside has the span of the whole string: before Python 3.12 its own place is not known exactly.
    """

    span: Span4
    values: list[Expr]


@dataclass(slots=True)
class Opaque:
    """An expression that the interpreter does not follow: only its parts.

    kind is "await", "yield", "yield from" or "template".
    """

    span: Span4
    kind: str
    values: list[Expr]


Expr = (
    Const
    | Name
    | Attribute
    | Subscript
    | Slice
    | Starred
    | Call
    | BinOp
    | UnaryOp
    | BoolOp
    | Compare
    | IfExp
    | Sequence
    | Dict
    | Comprehension
    | Lambda
    | NamedExpr
    | FString
    | Opaque
)
