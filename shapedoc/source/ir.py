"""The little Python that the interpreter knows.

Both lowerings (``lower_ast`` and ``lower_cst``) produce exactly these nodes, spans included. Nodes are plain
slotted dataclasses and are never changed once built (they are not frozen because a frozen dataclass costs three
times as much to build, and a file has thousands of nodes). A span is a 4-tuple of
``(line, column, end_line, end_column)``: lines from 1, columns from 0 in characters, end exclusive. It is the span
that ``ast`` gives (parentheses around an expression are outside it, those of a tuple display inside it).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from shapedoc.source.ir_expressions import (
    Attribute,
    BinOp,
    BoolOp,
    Call,
    Compare,
    Comprehension,
    Const,
    Dict,
    Expr,
    FString,
    Generator,
    IfExp,
    Lambda,
    Name,
    NamedExpr,
    Opaque,
    Param,
    Sequence,
    Slice,
    Span4,
    Starred,
    Subscript,
    UnaryOp,
)

__all__ = [
    "Assert",
    "Assign",
    "Attribute",
    "AugAssign",
    "BinOp",
    "BoolOp",
    "Call",
    "ClassDef",
    "Comment",
    "Compare",
    "Comprehension",
    "Const",
    "Dict",
    "Expr",
    "ExprStmt",
    "FString",
    "For",
    "FunctionDef",
    "Generator",
    "If",
    "IfExp",
    "Import",
    "Jump",
    "Lambda",
    "Module",
    "Name",
    "NamedExpr",
    "Opaque",
    "OpaqueStmt",
    "Param",
    "Return",
    "Scope",
    "Sequence",
    "Slice",
    "Span4",
    "Starred",
    "Stmt",
    "Subscript",
    "Try",
    "UnaryOp",
    "While",
    "With",
]


@dataclass(slots=True)
class Assign:
    """``a = b = value`` (several targets) or ``a: annotation = value``; value is None for a bare annotation."""

    span: Span4
    targets: list[Expr]
    value: Expr | None
    annotation: Expr | None = None


@dataclass(slots=True)
class AugAssign:
    """``target op= value``; op as in BinOp."""

    span: Span4
    target: Expr
    op: str
    value: Expr


@dataclass(slots=True)
class ExprStmt:
    span: Span4
    value: Expr


@dataclass(slots=True)
class Return:
    span: Span4
    value: Expr | None


@dataclass(slots=True)
class If:
    span: Span4
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True)
class For:
    span: Span4
    target: Expr
    iterable: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True)
class While:
    span: Span4
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True)
class With:
    """items: (context expression, target or None)."""

    span: Span4
    items: list[tuple[Expr, Expr | None]]
    body: list[Stmt]


@dataclass(slots=True)
class Try:
    """handlers: (exception type, bound name, body)."""

    span: Span4
    body: list[Stmt]
    handlers: list[tuple[Expr | None, str | None, list[Stmt]]]
    orelse: list[Stmt]
    final: list[Stmt]


@dataclass(slots=True)
class Assert:
    span: Span4
    test: Expr
    message: Expr | None


@dataclass(slots=True)
class Jump:
    """break, continue, pass, raise, global, nonlocal or del; `values` holds what is raised or deleted."""

    span: Span4
    kind: Literal["break", "continue", "pass", "raise", "global", "nonlocal", "del"]
    names: list[str]
    values: list[Expr]


@dataclass(slots=True)
class Import:
    """``import a.b as c`` and ``from .m import x as y``.

    names: (name, alias or None); module is None for a plain import, else the text after ``from`` without its dots;
    level counts the dots.
    """

    span: Span4
    module: str | None
    level: int
    names: list[tuple[str, str | None]]


@dataclass(slots=True)
class FunctionDef:
    """``header`` is the span from ``def`` (or ``async``) to the colon's end; decorators are outside both spans.

    `doc` is the docstring as written and its span; its statement stays in the body.
    """

    span: Span4
    header: Span4
    name: str
    params: list[Param]
    returns: Expr | None
    decorators: list[Expr]
    body: list[Stmt]
    doc: tuple[str, Span4] | None
    is_async: bool = False


@dataclass(slots=True)
class ClassDef:
    span: Span4
    header: Span4
    name: str
    bases: list[Expr]
    keywords: list[tuple[str | None, Expr]]
    decorators: list[Expr]
    body: list[Stmt]
    doc: tuple[str, Span4] | None


@dataclass(slots=True)
class OpaqueStmt:
    """A statement that the interpreter does not follow: kind "match" or "type".

    values: the subject and the guards, or the aliased type; blocks: one for each case; names: what the statement
    itself binds (captures of its patterns, the alias), sorted.
    """

    span: Span4
    kind: str
    values: list[Expr]
    blocks: list[list[Stmt]]
    names: list[str] = field(default_factory=list)


Stmt = (
    Assign
    | AugAssign
    | ExprStmt
    | Return
    | If
    | For
    | While
    | With
    | Try
    | Assert
    | Jump
    | Import
    | FunctionDef
    | ClassDef
    | OpaqueStmt
)

Scope = FunctionDef | ClassDef


@dataclass(slots=True)
class Comment:
    """A ``#`` comment: text without the hash and surrounding blanks; `own_line` when nothing stands before it."""

    span: Span4
    text: str
    own_line: bool


@dataclass(slots=True)
class Module:
    body: list[Stmt]
    doc: tuple[str, Span4] | None
    comments: list[Comment] = field(default_factory=list)
