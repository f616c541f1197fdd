"""What a function is walked with that nobody calls: its parameters as things that nobody describes."""

from __future__ import annotations

from dataclasses import replace

from shapedoc.core.sizes import ABSENT
from shapedoc.core.value import Bool, Float, Int, Library, NoneValue, Seq, Str, Unknown, Value
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.nodes import calls
from shapedoc.infer.values import Class, Function, Instance, Partial, Symbolic
from shapedoc.source import ir

__all__ = ["modules_given", "parameters", "takes_any"]

_DEEP = 3


def modules_given(m: Machine, function: Function, around: tuple[Class, ...], *, skip: int = 1) -> dict[str, Arg]:
    """The modules that a constructor or a function is given, where the file has a class of the parameter's name.

    ``Seq2Seq(encoder, decoder)`` beside the classes ``Encoder`` and ``Decoder``: each is built as it is by itself, on
    the names of its own constructor. around: the classes that are being built. skip: how many parameters are given
    otherwise, such as ``self``.
    """
    found: dict[str, Arg] = {}
    if len(around) > _DEEP or not m.sources.constructor:
        return found
    for p in function.node.params[skip:]:
        cls = _class_of(m, p) if p.kind == "pos" and p.name not in function.defaults else None
        if cls is None or cls in around:
            continue
        made = cls.find("__init__")
        instance = Instance(cls, open=True, name=p.name)
        if made is not None and isinstance(made[0], Function):
            args = parameters(m, made[0], {}, size=True, skip=1)
            args.update(modules_given(m, made[0], (*around, cls)))
            calls.invoke(m, made[0], [Arg(instance)], args, made[0].node_expression, rest=takes_any(made[0]))
        found[p.name] = Arg(instance)
    return found


def _class_of(m: Machine, p: ir.Param) -> Class | None:
    """The one class of a module in this file that a parameter is called after."""
    wanted = p.name.replace("_", "").lower()
    classes = [v for v in m.globals.values() if isinstance(v, Class) and v.module is None]
    fits = [c for c in classes if c.name.replace("_", "").lower() == wanted and _is_module(c)]
    return fits[0] if len(fits) == 1 else None


def _is_module(cls: Class) -> bool:
    forward = cls.find("forward")
    return forward is not None and any(isinstance(b, Library) for b in cls.ancestors())


def takes_any(function: Function) -> bool:
    """Whether a function takes arguments that it does not name, ``*shape`` or ``**options``: nobody knows how many."""
    return any(p.kind in ("args", "kwargs") for p in function.node.params)


def parameters(
    m: Machine, function: Function, symbols: dict[str, Symbolic], *, size: bool, skip: int
) -> dict[str, Arg]:
    """Every parameter as something that nobody describes, or what its default says it is."""
    args: dict[str, Arg] = {}
    owner = function.owner.name if function.owner else function.name
    for p in function.node.params[skip:]:
        if p.kind in ("args", "kwargs"):
            continue
        default = function.defaults.get(p.name)
        value = _from_default(p.name, default, size=size)
        if size and isinstance(value, Bool | Str):
            value = replace(value, parameter=p.name)
        elif isinstance(value, Bool):
            value = replace(value, flag=p.name)
        if size and isinstance(value, Int):
            value = Int(value.dim, p.name)
        if value is None:
            value = _of_numbers(m, p)
        if value is None:
            if p.name not in symbols:
                hint = "none" if isinstance(default, NoneValue) else ""
                symbols[p.name] = Symbolic(p.name, owner, size=size, line=p.span[0], hint=hint)
            value = symbols[p.name]
            if isinstance(default, Int) and default.dim.const == 0 and size:
                # No size; what stands for "not given" says nothing.
                value = Int(m.sizes.fresh(owner=m.function, origin=ABSENT, line=p.span[0]))
            elif isinstance(default, Int) and size:
                value = symbols[p.name].as_int()
        args[p.name] = Arg(value)
    return args


def _of_numbers(m: Machine, p: ir.Param) -> Seq | None:
    """As many whole numbers as its annotation says: ``tuple[int, int, int]``."""
    if not isinstance(p.annotation, ir.Subscript) or not isinstance(p.annotation.index, ir.Sequence):
        return None
    owner, kinds = p.annotation.value, p.annotation.index.items
    name = owner.id if isinstance(owner, ir.Name) else owner.attr if isinstance(owner, ir.Attribute) else ""
    if name not in ("tuple", "Tuple") or not all(isinstance(k, ir.Name) and k.id == "int" for k in kinds):
        return None
    return Seq(tuple(m.fresh_int(line=p.span[0]) for _ in kinds))


def _from_default(name: str, default: Value | None, *, size: bool) -> Value | None:
    """What a default says of a parameter: a flag, a small number and a string are taken as they are."""
    match default:
        case Bool() | Str() | Library() | Class() | Function() | Partial():
            return default
        case Float():
            return Float()
        case Int(dim=dim) if dim.value is not None and dim.value < 0 and "dim" not in name and "axis" not in name:
            return Unknown("a number that stands for another")
        case Int() if default.dim.value is not None and (default.dim.value == 1 or not size):
            return default
    return None
