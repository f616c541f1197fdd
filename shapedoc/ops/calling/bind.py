"""From the arguments of a call to the parameters of an op, and the evaluation of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import (
    Bool,
    DictValue,
    Float,
    Int,
    Layer,
    NoneValue,
    Opaque,
    Seq,
    SizeOf,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.core.verdict import Conflict, Known, Lost, Verdict
from shapedoc.core.verdict import Unknown as UnknownVerdict
from shapedoc.ops.calling.context import Broken, OpContext
from shapedoc.ops.registry import LayerOp, Op, OpParam, Signature

__all__ = ["Arguments", "Outcome", "as_compared", "as_tensor", "bind", "build_layer", "evaluate"]


@dataclass(slots=True, eq=False)
class Arguments:
    """The arguments of a call; `rest` when there are others that are not known (``*args``)."""

    positional: Sequence[Value]
    keywords: Mapping[str, Value]
    rest: bool = False


@dataclass(slots=True, eq=False)
class Outcome:
    """What an op made of a call.

    bound: parameter name -> value, in the op's order. places: parameter name -> index of the positional argument or
    the keyword it came from.
    """

    verdict: Verdict
    bound: Mapping[str, Value]
    places: Mapping[str, int | str]


def evaluate(op: Op, arguments: Arguments, sizes: Sizes, line: int = 0, layer: Layer | None = None) -> Outcome:
    """Call an op (with `layer` first, for the forward of a library module)."""
    try:
        bound, places = bind(op.signature, arguments)
    except Lost as lost:
        return _unbound(arguments, lost.reason)
    at = OpContext(sizes, bound, line)
    try:
        result = _call(op, at, layer)
    except Lost as lost:
        return Outcome(UnknownVerdict(lost.reason, _unknown_like(bound)), bound, places)
    except Broken:
        return Outcome(Conflict(tuple(at.problems), _unknown_like(bound)), bound, places)
    if at.problems:
        return Outcome(Conflict(tuple(at.problems), result), bound, places)
    return Outcome(Known(result), bound, places)


def _unbound(arguments: Arguments, reason: str) -> Outcome:
    bound = {str(i): v for i, v in enumerate(arguments.positional)} | dict(arguments.keywords)
    places: dict[str, int | str] = {str(i): i for i in range(len(arguments.positional))}
    places.update((name, name) for name in arguments.keywords)
    return Outcome(UnknownVerdict(reason, Tensor(Shape.unknown())), bound, places)


def _call(op: Op, at: OpContext, layer: Layer | None) -> Value:
    bound, sizes = at.bound, at.sizes
    given: list[object] = [at] if layer is None else [at, layer]
    variadic: Sequence[object] = ()
    named: dict[str, object] = {}
    signature = op.signature
    for p in signature.params:
        name = p.name
        if p.variadic:
            variadic = _several(_fit(bound[name], p, sizes))
        elif not p.keywords:
            value = _fit(bound[name], p, sizes) if name in bound else p.default
            if p.keyword_only:
                named[name] = value
            else:
                given.append(value)
        else:
            known = signature.names
            named.update({name: other for name, other in bound.items() if name not in known})
    return op.function(*given, *variadic, **named)


def _several(value: object) -> Sequence[object]:
    return value if isinstance(value, (tuple, list)) else (value,)


def _unknown_like(bound: Mapping[str, Value]) -> Tensor:
    result = Tensor(Shape.unknown())
    for value in bound.values():
        if isinstance(value, Tensor):
            result.library, result.kind = value.library, value.kind
            break
    return result


def build_layer(op: LayerOp, arguments: Arguments) -> Mapping[str, Value]:
    """The configuration of a library module from its constructor's arguments; raises Lost where they do not fit.

    Arguments that its constructor has no names for are left out, as if they were not given.
    """
    known = op.settings.names
    named = {k: v for k, v in arguments.keywords.items() if k in known or k in _ALIASES or op.settings.takes_any}
    bound, _ = bind(op.settings, Arguments(arguments.positional, named, arguments.rest))
    config: dict[str, Value] = {}
    for p in op.config:
        if not p.variadic and not p.keywords:
            value = bound[p.name] if p.name in bound else _literal(p.default)
            config[p.name] = _size(p.name) if p.needs == "Dim" and isinstance(value, Unknown) else value
    config.update({k: v for k, v in bound.items() if k not in config})
    return config


def _size(name: str) -> Value:
    """A size that cannot be followed: one for all calls of the layer, learnt from the first of them."""
    return Int(Dim.of(Sym(flexible=True, origin=f"`{name}`")))


def _literal(default: object) -> Value:
    match default:
        case None:
            return NoneValue()
        case bool():
            return Bool(default)
        case int():
            return Int(Dim.of(default))
        case float():
            return Float(default, known=True)
        case str():
            return Str(default)
        case tuple():
            return Seq(tuple(_literal(d) for d in default))
        case _:
            return Unknown("no default")


# The parameters that take sizes one by one or in a tuple.
_SIZES = frozenset(("size", "shape", "repeats", "data"))


def bind(signature: Signature, arguments: Arguments) -> tuple[dict[str, Value], dict[str, int | str]]:
    """Arguments by parameter name, and where each came from; raises Lost where the signature does not accept them.

    Keywords that only a ``**names`` parameter takes stand under their own names.
    """
    if arguments.rest:
        raise Lost("arguments passed on with * or **")
    bound: dict[str, Value] = {}
    places: dict[str, int | str] = {}
    given, keywords = arguments.positional, arguments.keywords
    count = len(given)
    position = 0
    for p in signature.params:
        if position >= count and not p.variadic:
            continue
        if p.variadic:
            values = tuple(given[position:])
            # One value that cannot be followed may be several in a tuple.
            alone = len(values) == 1 and isinstance(values[0], Seq | SizeOf | Unknown)
            bound[p.name] = values[0] if alone else Seq(values)
            if len(values) == 1 and p.name in _SIZES and isinstance(values[0], Opaque) and values[0].undecided:
                bound[p.name] = Unknown("one size, or several")
            places[p.name] = position
            position = count
        elif not p.keyword_only:
            bound[p.name] = given[position]
            places[p.name] = position
            position += 1
    if position < count:
        raise Lost("more arguments than the op takes")
    extra: dict[str, Value] = {}
    names = signature.names
    for name, value in keywords.items():
        target = name if name in names else _ALIASES.get(name, "")
        if target not in names:
            if signature.takes_any:
                extra[name] = value
                places[name] = name
                continue
            if name in _IGNORED:
                continue
            raise Lost(f"unknown argument `{name}`")
        bound[target] = value
        places[target] = name
    for name in signature.required:
        if name not in bound:
            raise Lost(f"argument `{name}` missing")
    if keywords:
        bound = {p.name: bound[p.name] for p in signature.params if p.name in bound} | extra
    return bound, places


_ALIASES = {
    "a": "input",
    "axes": "dims",
    "axis": "dim",
    "k": "diagonal",
    "keepdims": "keepdim",
    "shape": "size",
    "size": "shape",
    "x": "input",
}
_IGNORED = frozenset(
    ("device", "generator", "layout", "memory_format", "non_blocking", "out", "pin_memory", "requires_grad")
)


def _fit(value: Value, param: OpParam, sizes: Sizes) -> object:
    """A value as the op's annotation wants it; raises Lost."""
    needs = param.kind
    if needs == "Tensor" and isinstance(value, Tensor):
        return value
    if isinstance(value, Opaque) and needs in ("int", "Dim", "Dims", "Ints"):
        value = value.as_int() or value
    if isinstance(value, NoneValue) and param.takes_none:
        return None
    if needs == "Value":
        return value
    match needs:
        case "Tensor":
            return as_tensor(value)
        case "Tensors":
            return _tensors(value)
        case "int":
            if isinstance(value, Int):
                number = sizes.resolve(value.dim).value
                if number is not None:
                    return number
            if isinstance(value, Bool) and value.value is not None:
                return int(value.value)
        case "Dim":
            if isinstance(value, Int):
                return sizes.resolve(value.dim)
        case "bool":
            if isinstance(value, Bool) and value.value is not None:
                return value.value
            if isinstance(value, Int) and value.value is not None:
                return bool(value.value)
            if param.optional:
                return None
        case "str":
            if isinstance(value, Str) and value.value is not None:
                return value.value
        case "Dims":
            return tuple(_dim(v, sizes) for v in _items(value, sizes))
        case "Ints":
            return tuple(_int(v, sizes) for v in _items(value, sizes))
        case "float":
            if isinstance(value, Float | Int):
                return value
    reason = value.reason if isinstance(value, Unknown) else f"`{param.name}` is not known"
    raise Lost(reason)


def as_tensor(value: Value) -> Tensor:
    """A value as a tensor: a number has no axes, an unknown value an unknown shape."""
    match value:
        case Tensor():
            return value
        case Int():
            return Tensor(Shape(()), kind="int")
        case Float():
            return Tensor(Shape(()), kind="float")
        case Bool(value=None):
            return Tensor(Shape.unknown(), kind="bool")  # what a comparison of unknown things gives, too
        case Bool():
            return Tensor(Shape(()), kind="bool")
        case Unknown():
            return Tensor(Shape.unknown(), event=value.events[-1] if value.events else -1)
        case Opaque():
            tensor = value.as_tensor()
            if tensor is not None:
                return tensor
        case Seq(items=items, rest=None) if items:
            return _of_list(items)
        case Seq(items=items, rest=rest) if rest is not None:
            return _of_open_list((*items, rest))
    raise Lost("not a tensor")


def as_compared(value: Value) -> Tensor:
    """What a tensor is compared with: a setting that nobody describes is a number there."""
    return Tensor(Shape(())) if isinstance(value, Opaque) and value.is_number else as_tensor(value)


def _of_list(items: Sequence[Value]) -> Tensor:
    """A list as NumPy takes it for an array."""
    parts = [as_tensor(v) for v in items]
    kinds = {t.kind for t in parts}
    kind = parts[0].kind if len(kinds) == 1 else "float" if kinds == {"int", "float"} else ""
    event = max(t.event for t in parts)
    if len({t.shape.rank for t in parts}) > 1 or parts[0].shape.rank is None:
        return Tensor(Shape.unknown(), kind=kind, library="numpy", event=event)
    return Tensor(Shape((Axis(Dim.of(len(items))), *parts[0].shape.items)), kind=kind, library="numpy", event=event)


def _of_open_list(items: Sequence[Value]) -> Tensor:
    """A list of as many such elements as there may be."""
    made = _of_list(items)
    if made.shape.run is None:
        made.shape = Shape(tuple(Axis(Dim.of(Sym(flexible=True))) for _ in made.shape.axes))
    return made


def _tensors(value: Value) -> tuple[Tensor, ...]:
    if isinstance(value, Seq):
        if value.rest is not None:
            raise Lost("a list of unknown length")
        return tuple(as_tensor(v) for v in value.items)
    if isinstance(value, DictValue):
        return tuple(as_tensor(v) for v in value.items.values())
    raise Lost("not a list of tensors")


def _items(value: Value, sizes: Sizes) -> Sequence[Value]:
    match value:
        case Seq(items=items, rest=None):
            return items
        case Int():
            return (value,)
        case SizeOf(tensor=tensor):
            shape = sizes.shape(tensor.shape)
            if shape.run is None:
                return tuple(Int(a.dim) for a in shape.axes)
            raise Lost("rank unknown")
        case Unknown(reason=reason):
            raise Lost(reason)
        case _:
            raise Lost("not a list of sizes")


def _dim(value: Value, sizes: Sizes) -> Dim:
    if isinstance(value, Opaque):
        value = value.as_int() or value
    if isinstance(value, Int):
        return sizes.resolve(value.dim)
    if isinstance(value, Unknown):
        raise Lost(value.reason)
    raise Lost("a size is not known")


def _int(value: Value, sizes: Sizes) -> int:
    number = _dim(value, sizes).value
    if number is None:
        raise Lost("an axis is not a literal")
    return number
