"""Annotations that carry shapes: ``Float[Tensor, "b t d"]`` and, by the same grammar, ``TensorType["b", "t", 3]``.

A string is a list of axes with blanks between: a name, a number, ``_`` (any size), ``...`` (any axes), ``*b`` (axes
with a name), ``#n`` (n or 1), ``_n`` (any size, called n), ``n=3`` (3, called n), ``{x}`` (the value of an argument),
``?n``, and expressions without blanks: ``2*d``, ``n-1``, ``d//h``.

Source: jaxtyping's documentation, "Array annotations"; torchtyping's README.
"""

from __future__ import annotations

import re

from shapedoc.core.value import Kind
from shapedoc.source.contracts.dimension import parse_dim
from shapedoc.source.contracts.layout import dotted
from shapedoc.source.contracts.lexicon import words
from shapedoc.source.contracts.stated import Anonymous, Bound, DimExpr, Named, Number, Rest, StatedShape, Unreadable
from shapedoc.source.ir import BinOp, Const, Expr, Name, Sequence, Slice, Span4, Subscript, UnaryOp

__all__ = ["read_annotation", "read_string"]

_KINDS = words(
    """Float Float8 Float16 Float32 Float64 BFloat16 Int Int2 Int4 Int8 Int16 Int32 Int64 UInt UInt2 UInt4 UInt8
    UInt16 UInt32 UInt64 Bool Complex Complex64 Complex128 Num Inexact Real Shaped Integer Key Float8e4m3fn
    Float8e5m2"""
)
_WRAPPERS = frozenset(("Optional", "Annotated", "Final", "ClassVar"))
_TUPLES = frozenset(("tuple", "Tuple"))
_FIELD = re.compile(r"\{([^{}]*)\}")


def read_annotation(annotation: Expr, name: str | None = None) -> tuple[list[Bound], list[Unreadable]]:
    """The shapes that an annotation states, those of a tuple by their index, and the strings that do not parse."""
    bound: list[Bound] = []
    wrong: list[Unreadable] = []
    _read(annotation, name, None, bound, wrong)
    return bound, wrong


def read_string(text: str) -> tuple[DimExpr, ...] | str:
    """The sizes of a jaxtyping string, or what is wrong with it.

    ``"b t d"`` -> (b, t, d); ``""`` -> (), a scalar.
    """
    dims: list[DimExpr] = []
    for token in _FIELD.sub(lambda m: "{" + re.sub(r"\s", "", m.group(1)) + "}", text).split():
        dim = _axis(token)
        if isinstance(dim, str):
            return dim
        dims.append(dim)
    if sum(isinstance(d, Rest) for d in dims) > 1:
        return "more than one of its axes stands for any number of axes"
    return tuple(dims)


def _read(node: Expr, name: str | None, index: int | None, bound: list[Bound], wrong: list[Unreadable]) -> None:
    if isinstance(node, BinOp) and node.op == "|":
        before = len(bound)
        _read(node.left, name, index, bound, wrong)
        _read(node.right, name, index, bound, wrong)
        if len(bound) > before + 1:
            del bound[before:]  # a union of shapes: which one it is, is not known
        return
    if not isinstance(node, Subscript):
        return
    head = dotted(node.value).rpartition(".")[2]
    inner: list[Expr] = list(node.index.items) if isinstance(node.index, Sequence) else [node.index]
    if head in _TUPLES and index is None:
        for i, item in enumerate(inner):
            _read(item, name, i, bound, wrong)
    elif head in _WRAPPERS or head == "Union":
        before = len(bound)
        for item in inner:
            _read(item, name, index, bound, wrong)
        if len(bound) > before + 1:
            del bound[before:]
    elif head in _KINDS and len(inner) == 2:
        _string(inner[1], name, index, bound, wrong, _kind(head))
    elif head == "TensorType":
        _items(inner, node.span, name, index, bound)


def _kind(head: str) -> Kind:
    """What the elements are, of an annotation that says it."""
    name = head.rstrip("0123456789")
    return _ELEMENTS.get(name, "float" if name.startswith("Float") else "")


_ELEMENTS: dict[str, Kind] = {
    "Float": "float",
    "BFloat": "float",
    "Int": "int",
    "UInt": "int",
    "Integer": "int",
    "Bool": "bool",
    "Complex": "complex",
}


def _string(
    node: Expr, name: str | None, index: int | None, bound: list[Bound], wrong: list[Unreadable], kind: Kind
) -> None:
    if not (isinstance(node, Const) and isinstance(node.value, str)):
        return
    read = read_string(node.value)
    if isinstance(read, str):
        wrong.append(Unreadable(node.span, node.value, read))
        return
    bound.append(Bound(name or "", StatedShape(name, read, "annotation", node.span, node.value, kind=kind), index))


def _items(items: list[Expr], span: Span4, name: str | None, index: int | None, bound: list[Bound]) -> None:
    """The axes of ``TensorType["batch", 3, -1]``; a type or anything else that is no axis ends the list."""
    dims: list[DimExpr] = []
    for item in items:
        match item:
            case Const(value=str(text)):
                read = read_string(text)
                if isinstance(read, str):
                    return
                dims.extend(read)
            case Const(value=bool()):
                return
            case Const(value=int(number)) if number > 0:
                dims.append(Number(number))
            case UnaryOp(op="-"):
                dims.append(Anonymous("-1"))
            case Const(value=value) if value is ...:
                dims.append(Rest())
            case Slice(lower=Const(value=str(text))):
                dims.append(Named(text))
            case Name():
                continue
            case _:
                return
    if dims and sum(isinstance(d, Rest) for d in dims) < 2:
        text = " ".join(str(d) for d in dims)
        bound.append(Bound(name or "", StatedShape(name, tuple(dims), "annotation", span, text), index))


def _axis(token: str) -> DimExpr | str:
    """One axis of a string, or what is wrong with it."""
    if token == "...":
        return Rest()
    if "," in token and "(" not in token:
        return f"its axes are separated by blanks, not by commas: `{token}`"
    modifiers = token[: len(token) - len(token.lstrip("*#?_"))] if token != "_" else "_"
    rest = token[len(modifiers) :]
    if "=" in rest and "==" not in rest and rest.partition("=")[0].isidentifier():
        label, _, rest = rest.partition("=")
        if not rest:
            return f"`{token}` has nothing after its `=`"
        size = _axis(rest)
        if isinstance(size, str) or modifiers or isinstance(size, Rest):
            return size
        return Named(label, size) if isinstance(size, Number) else size
    if any(modifiers.count(c) > 1 for c in "*#?") or "..." in rest:
        return f"`{token}` is no axis"
    if "*" in modifiers:
        if rest and not rest.isidentifier():
            return f"`{token}`: only a name can stand for several axes"
        return Rest("" if "_" in modifiers else rest)
    if "_" in modifiers:
        return Anonymous(token) if not rest or rest.isidentifier() else f"`{token}` is no name"
    return _size(token, rest, broadcasts="#" in modifiers)


def _size(token: str, rest: str, *, broadcasts: bool) -> DimExpr | str:
    if not rest:
        return f"`{token}` names no axis"
    if rest.isidentifier():
        return Named(rest, None, broadcasts)
    if "{" in rest or "}" in rest:
        filled = _FIELD.sub(lambda m: m.group(1), rest)
        if "{" in filled or "}" in filled:
            return f"the braces of `{token}` do not match"
        dim = parse_dim(filled)
        return Anonymous(token) if dim is None else dim
    dim = parse_dim(rest)
    if dim is None or isinstance(dim, Rest):
        return f"`{token}` is neither a name, a number nor an expression"
    if broadcasts:
        return Anonymous(token)
    return dim
