"""Calls that give an argument to another parameter than the one with its name, or give a parameter nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from shapedoc.core.trace import Misbound
from shapedoc.core.value import Layer, Library, Tensor
from shapedoc.infer.machine import Arg, Machine, span_of
from shapedoc.infer.values import Function, Instance
from shapedoc.ops.registry import OpParam
from shapedoc.source import ir

__all__ = ["note_bare", "note_layer", "note_misbound"]

Keywords = Mapping[str, Arg]
# Decorators that leave the parameters of a function as they are.
_TRANSPARENT = ("torch.", "functools.", "contextlib.")
_PLAIN = frozenset(("staticmethod", "property"))
_FORWARD = (".forward", ".__call__")


def note_misbound(m: Machine, function: Function, args: Sequence[Arg], keywords: Keywords, node: ir.Call) -> None:
    """Note what a call of a function of the author's gives to parameters of other names, and which it gives nothing."""
    head = function.node
    if m.path or m.watched or isinstance(head, ir.Lambda) or _expands(node) or not _keeps_parameters(m, head):
        return
    kind = _kind(function, args)
    if kind == "constructor" and _is_decorated(args):
        return
    bound = int(function.owner is not None and function.role != "static")
    places = [p.name for p in head.params if p.kind == "pos"]
    _note_moved(m, function.name, places, function.defaults, args, keywords, node, kind, bound)
    if (isinstance(node.func, ir.Name) and node.func.id == "cls") or _is_guessed(args):
        return
    computes = any(isinstance(a.value, Tensor) for a in (*args[bound:], *keywords.values())) or _of_module(function)
    if computes and kind in ("constructor", "model"):
        _note_surplus(m, function.name, head.params, args, keywords, node, kind)
    for p in head.params:
        given = p.name in places[: len(args)] or p.name in keywords or p.name in function.defaults
        if not given and p.kind not in ("args", "kwargs"):
            _note(m, Misbound(span_of(node), function.name, p.name, kind=kind, computes=computes, inside=m.function))


def note_layer(
    m: Machine, kind: str, params: Sequence[OpParam], args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt
) -> None:
    """Note what is given to parameters of other names where a library's module is built."""
    if m.path or m.watched or len(args) < 2 or not isinstance(node, ir.Call) or _expands(node):
        return
    places = [p.name for p in params if not p.keyword_only and not p.keywords and not p.variadic]
    optional = [p.name for p in params if not p.required]
    _note_moved(m, kind.rpartition(".")[2], places, optional, args, keywords, node, "layer", 0)


def note_bare(m: Machine, layer: Layer, required: Sequence[str], node: ir.Expr | ir.Stmt) -> None:
    """Note a call of a library's module that is given nothing: it may have been meant to be handed on as it is."""
    if m.path or m.watched or not required or not isinstance(node, ir.Call) or _expands(node):
        return
    name = layer.kind.rpartition(".")[2]
    _note(m, Misbound(span_of(node), name, required[0], kind="layer", computes=True, inside=m.function))


def _kind(function: Function, args: Sequence[Arg]) -> str:
    if function.name.endswith(".__init__"):
        return "constructor"
    if function.name.endswith(_FORWARD) and args and isinstance(args[0].value, Instance):
        return "model"
    return "method" if function.owner is not None else "function"


def _is_guessed(args: Sequence[Arg]) -> bool:
    """Whether what is called is a module that a parameter is taken for because of its name."""
    receiver = args[0].value if args else None
    return isinstance(receiver, Instance) and receiver.open and receiver.name != ""


def _is_decorated(args: Sequence[Arg]) -> bool:
    """Whether a decorator of the class may write another constructor, as that of a dataclass does."""
    made = args[0].value if args else None
    return isinstance(made, Instance) and bool(made.cls.node.decorators)


def _note_surplus(
    m: Machine,
    function: str,
    params: Sequence[ir.Param],
    args: Sequence[Arg],
    keywords: Keywords,
    node: ir.Call,
    kind: str,
) -> None:
    kinds = {p.kind for p in params}
    places = [p.name for p in params if p.kind == "pos"]
    unknown = [] if "kwargs" in kinds else [k for k in keywords if k not in {p.name for p in params}]
    if unknown:
        surplus = f"`{unknown[0]}`"
    elif len(args) > len(places) and "args" not in kinds:
        count = len(args) - len(places)
        surplus = "1 argument" if count == 1 else f"{count} arguments"
    else:
        return
    _note(m, Misbound(span_of(node), function, "", kind=kind, computes=True, surplus=surplus, inside=m.function))


def _of_module(function: Function) -> bool:
    """Whether a function is a method of a module."""
    bases = function.owner.ancestors() if function.owner is not None else ()
    return any(isinstance(b, Library) and b.qualified.startswith("torch.nn.") for b in bases)


def _note_moved(
    m: Machine,
    function: str,
    places: Sequence[str],
    optional: Collection[str],
    args: Sequence[Arg],
    keywords: Keywords,
    node: ir.Call,
    kind: str,
    bound: int,
) -> None:
    if len(args) - bound < 2 or len(args) > len(places):
        return
    for place in range(bound, len(args)):
        name = _name(args[place].node)
        if not name or name == places[place] or name not in places[bound:]:
            continue
        home = places.index(name)
        moved = Misbound(
            span_of(node),
            function,
            places[place],
            name,
            span_of(args[place].node or node),
            place - home,
            places[place] in optional,
            home < len(args) or name in keywords,
            kind,
            inside=m.function,
        )
        _note(m, moved)


def _note(m: Machine, found: Misbound) -> None:
    m.trace.misbound.setdefault((found.span, found.function, found.parameter), found)


def _name(node: ir.Expr | None) -> str:
    """What a variable or an attribute is called."""
    match node:
        case ir.Name():
            return node.id
        case ir.Attribute():
            return node.attr
    return ""


def _expands(node: ir.Call) -> bool:
    """Whether a call has ``*args`` or ``**kwargs``, whose contents are not what every run gives."""
    return any(isinstance(a, ir.Starred) for a in node.args) or any(name is None for name, _ in node.keywords)


def _keeps_parameters(m: Machine, head: ir.FunctionDef) -> bool:
    """Whether nothing stands around a function that may take other arguments than it does."""
    for decorator in head.decorators:
        if isinstance(decorator, ir.Name) and decorator.id in _PLAIN:
            continue
        found = decorator.func if isinstance(decorator, ir.Call) else decorator
        value = m.eval(found) if isinstance(found, ir.Name | ir.Attribute) else None
        if not isinstance(value, Library) or not value.qualified.startswith(_TRANSPARENT):
            return False
    return True
