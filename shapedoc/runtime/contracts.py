"""What a function states of the shapes that go in and come out, read from its annotations, comments and docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, get_args

from shapedoc.core.span import Span
from shapedoc.core.value import Kind
from shapedoc.runtime.places import Place, SourceFile, source_file
from shapedoc.source import ir
from shapedoc.source.contracts import DimExpr
from shapedoc.source.contracts.jaxtyping import read_string

__all__ = ["Contract", "Term", "annotations_of", "definition_of", "read_class", "read_function", "something"]


@dataclass(frozen=True, slots=True)
class Term:
    """One stated shape. name: the parameter, or "" for what is returned. index: the component of a tuple.

    firm: it is an annotation; a comment or a docstring may be out of date. kind: what its elements are said to be.
    """

    name: str
    dims: tuple[DimExpr, ...]
    firm: bool = True
    index: int | None = None
    span: Span | None = None
    kind: Kind = ""

    @property
    def text(self) -> str:
        """The shape as it is printed: ``(B, T)``."""
        inner = ", ".join(str(d) for d in self.dims)
        return f"({inner},)" if len(self.dims) == 1 else f"({inner})"


_NOWHERE = Span(1, 0, 1, 0)


@dataclass(frozen=True, slots=True)
class Contract:
    """All that one function states. header: where it is defined."""

    function: str
    params: dict[str, Term] = field(default_factory=dict)
    returns: tuple[Term, ...] = ()
    path: str = ""
    header: Span = _NOWHERE

    @property
    def is_empty(self) -> bool:
        return not self.params and not self.returns


def read_function(function: Callable[..., Any]) -> Contract:
    """The contract of a function: its annotations, and where there are none what its source says beside it."""
    plain = inspect.unwrap(function)
    if not isinstance(plain, FunctionType):
        return Contract(getattr(function, "__qualname__", "function"))
    source, place = definition_of(plain)
    node = place.node if place is not None else None
    path = source.path if source is not None else ""
    name = plain.__qualname__.rpartition("<locals>.")[2]
    annotations = annotations_of(plain)
    params = _annotated(annotations)
    returns = tuple(_returned(annotations.get("return")))
    if source is None or not isinstance(node, ir.FunctionDef):
        return Contract(name, params, returns, path)
    places = {p.name: Span(*p.span) for p in node.params}
    params = {n: Term(n, t.dims, span=places.get(n), kind=t.kind) for n, t in params.items()}
    for parameter, shapes in source.contracts.params(node).items():
        if shapes and shapes[0].sure and shapes[0].index is None and parameter not in params:
            firm = shapes[0].form == "annotation"
            params[parameter] = Term(parameter, shapes[0].dims, firm, None, Span(*shapes[0].span))
    if not returns:
        bounds = [b for b in source.contracts.returns(node) if b.shape.sure]
        returns = tuple(
            Term(
                "",
                b.shape.dims,
                b.shape.form == "annotation",
                b.index if b.index is not None else b.shape.index,
                Span(*b.shape.span),
            )
            for b in bounds
        )
    order = [p for p in places if p in params]
    return Contract(name, {n: params[n] for n in order}, returns, path, Span(*node.header))


def annotations_of(target: Callable[..., Any]) -> dict[str, object]:
    """The annotations of a function or a class; those that are strings evaluated, where they can be."""
    try:
        return dict(inspect.get_annotations(target, eval_str=True))
    except Exception:  # A name that is imported for type checkers only.
        return dict(inspect.get_annotations(target))


def read_class(cls: type) -> Contract:
    """The contract of a dataclass: the annotations of its fields."""
    annotations: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        annotations.update(annotations_of(base))
    return Contract(cls.__qualname__, _annotated(annotations))


def _annotated(annotations: dict[str, object]) -> dict[str, Term]:
    found: dict[str, Term] = {}
    for name, annotation in annotations.items():
        dims = _dims(annotation)
        if name != "return" and dims is not None:
            found[name] = Term(name, dims, kind=_kind(annotation))
    return found


def something(annotation: object) -> object:
    """What an annotation says of a value that is not None."""
    inner = [a for a in get_args(annotation) if a is not type(None)]
    alone = (
        len(inner) == 1 and not hasattr(annotation, "dim_str") and getattr(annotation, "__origin__", None) is not tuple
    )
    return inner[0] if alone else annotation


def _kind(annotation: object) -> Kind:
    """What the elements are, of an annotation of jaxtyping that says it."""
    names = getattr(something(annotation), "dtypes", ())
    kinds: set[Kind] = {next((k for k, starts in _ELEMENTS.items() if str(n).startswith(starts)), "") for n in names}
    return kinds.pop() if len(kinds) == 1 else ""


_ELEMENTS: dict[Kind, tuple[str, ...]] = {
    "bool": ("bool",),
    "float": ("float", "bfloat"),
    "int": ("int", "uint"),
    "complex": ("complex",),
}


def _returned(annotation: object) -> list[Term]:
    dims = _dims(annotation)
    if dims is not None:
        return [Term("", dims)]
    if getattr(annotation, "__origin__", None) is not tuple:
        return []
    parts = [(i, _dims(part)) for i, part in enumerate(get_args(annotation))]
    return [Term("", d, index=i) for i, d in parts if d is not None]


def _dims(annotation: object) -> tuple[DimExpr, ...] | None:
    """The axes of a jaxtyping annotation, also of ``Float[Tensor, "b t"] | None``."""
    text = getattr(something(annotation), "dim_str", None)
    if not isinstance(text, str):
        return None
    read = read_string(text)
    return None if isinstance(read, str) else read


def definition_of(function: FunctionType) -> tuple[SourceFile | None, Place | None]:
    """The file of a function and where it is defined in it, as far as there is a source."""
    source = source_file(function.__code__.co_filename)
    if source is None:
        return None, None
    first = function.__code__.co_firstlineno
    found = [
        (p.node.header[0], i, p)
        for i, p in enumerate(source.definitions)
        if isinstance(p.node, ir.FunctionDef) and p.node.name == function.__name__ and p.node.header[0] >= first
    ]
    return source, min(found)[2] if found else None
