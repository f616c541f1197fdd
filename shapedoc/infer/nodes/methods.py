"""Methods of tensors, lists, dicts, strings and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.trace import Operand
from shapedoc.core.value import (
    Bool,
    DictValue,
    Float,
    Int,
    NoneValue,
    Seq,
    SizeOf,
    SizePart,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.infer.branches.join import join
from shapedoc.infer.branches.truth import has_one_element
from shapedoc.infer.machine import Arg, Machine, span_of
from shapedoc.infer.nodes.subscripts import key_of
from shapedoc.infer.sizes_of import prefix_of, shape_of, size_at
from shapedoc.infer.values import Container, Symbolic
from shapedoc.ops.registry import find
from shapedoc.source import ir

__all__ = ["assign_back", "container_method", "of_this_kind", "tensor_method"]

Keywords = Mapping[str, Arg]
Node = ir.Expr | ir.Stmt


def tensor_method(
    m: Machine, tensor: Tensor, method: str, args: Sequence[Arg], keywords: Keywords, node: Node, rest: bool = False
) -> Value:
    """A method of a tensor or an array."""
    if method in _OF_OTHERS or _splits_text(method, args, keywords):
        return Seq((), "list", Str()) if method == "split" else m.unknown_call(f".{method}", node, args, keywords)
    where = node.func.value if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) else None
    plain = _about_shape(m, tensor, method, args, keywords, node)
    if plain is not None:
        return plain
    if not rest and any(_partial(a.value) for a in args):
        return _with_parts(m, tensor, method, args, node, where)
    numpys = method == "astype" or (tensor.event < 0 and _is_numpys(method, args, keywords))
    numpys = numpys or (method == "dot" and _may_be_arrays(m, [tensor, *(a.value for a in args)]))
    prefix = "numpy.ndarray" if numpys else prefix_of(m, tensor)
    qualified = f"{prefix}.{method}"
    in_place = method.endswith("_") and not method.endswith("__")
    if find(qualified) is None and in_place:
        qualified = qualified.rstrip("_")
    if find(qualified) is None and prefix == "numpy.ndarray" and find(f"torch.Tensor.{method}") is not None:
        if tensor.library == "numpy" and method not in _ALIKE:
            return m.unknown_call(f".{method}, which no array has", node, [Arg(tensor, where), *args], keywords)
        qualified = f"torch.Tensor.{method}"
    result = m.operate(qualified, node, [Arg(tensor, where), *args], keywords, rest=rest)
    if in_place and isinstance(result, Tensor) and method not in _RESHAPING:
        _keep(m, result, tensor)
        m.changes(result)
    if method in _RESIZING:
        tensor.shape = Shape.unknown()  # under whatever name it is known: a buffer that is filled anew for each batch
    if in_place and where is not None and isinstance(result, Tensor):
        assign_back(m, where, result)
    return result


# Methods of arrays that are described as those of tensors; any other of a tensor is one of what an array holds.
_ALIKE = frozenset(["sort", "view"])

# Methods of dicts, lists, strings, modules and plots: what they are called on is no tensor, whatever it was taken for.
_OF_OTHERS = frozenset(
    [
        *("get", "items", "keys", "append", "extend", "insert", "pop", "update", "setdefault"),
        *("startswith", "endswith", "strip", "lower", "upper", "join", "format", "encode", "decode", "splitlines"),
        *("parameters", "named_parameters", "state_dict", "load_state_dict", "eval", "train", "zero_grad", "modules"),
        *("set_title", "set_xlabel", "set_ylabel", "set_xlim", "set_ylim", "legend", "plot", "imshow", "iterrows"),
    ]
)


def _splits_text(method: str, args: Sequence[Arg], keywords: Keywords) -> bool:
    """Whether it is a string that is split: at blanks, or at a text."""
    return method == "split" and not keywords and (not args or isinstance(args[0].value, Str))


# The methods that give a tensor another memory, and the shape of that.
_RESIZING = frozenset(["resize_", "resize_as_", "set_"])
# The methods that give the tensor they change another shape.
_RESHAPING = frozenset(["squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "swapdims_", *_RESIZING])


def _keep(m: Machine, result: Tensor, changed: Tensor) -> None:
    """A tensor that is changed in place keeps its shape, whatever it is combined with."""
    ours, made = m.sizes.shape(changed.shape), m.sizes.shape(result.shape)
    if ours.run is not None or ours.rank == made.rank:
        return
    result.shape = ours
    if result.event >= 0:
        m.trace.events[result.event].shape = ours


def _is_numpys(method: str, args: Sequence[Arg], keywords: Keywords) -> bool:
    """Whether what nobody describes is an array, by a method that is spelled as NumPy's alone."""
    if method == "transpose":
        return len(args) > 2 or (len(args) == 1 and isinstance(args[0].value, Seq))
    return method in ("max", "min") and not keywords.keys().isdisjoint(("axis", "keepdims"))


def _may_be_arrays(m: Machine, values: Sequence[Value]) -> bool:
    """Whether a plain function of a file with both libraries multiplies what nothing of torch has made.

    The two have one method of this name, which takes vectors alone in torch.
    """
    if "numpy" not in m.libraries or m.frame.owner is not None:
        return False
    pending, seen = [v for v in values if isinstance(v, Tensor)], set[int]()
    while pending:
        event = pending.pop().event
        if event < 0 or event in seen:
            continue
        seen.add(event)
        made = m.trace.events[event]
        if made.op.startswith("torch.") and not made.op.startswith("torch.Tensor."):
            return False
        pending.extend(o.value for o in made.operands if isinstance(o.value, Tensor))
    return True


def _partial(value: Value) -> bool:
    if isinstance(value, Seq):
        return any(isinstance(v, SizePart | SizeOf) for v in value.items)
    return isinstance(value, SizePart)


def _with_parts(
    m: Machine, tensor: Tensor, method: str, args: Sequence[Arg], node: Node, where: ir.Expr | None
) -> Value:
    """``x.view(*x.shape[:-1], n_heads, d_head)`` where the rank of x is unknown: the unknown part goes through."""
    if method not in ("view", "reshape", "expand", "new_zeros", "new_ones", "new_empty"):
        return m.unknown_call(f".{method} with a part of a shape", node, [Arg(tensor, where), *args], {})
    items: list[Axis | Run] = []
    for value in (v for a in args for v in (a.value.items if isinstance(a.value, Seq) else (a.value,))):
        match value.as_int() if isinstance(value, Symbolic) else value:
            case SizePart(items=part):
                items.extend(part)
            case SizeOf(tensor=other):
                items.extend(m.sizes.shape(other.shape).items)
            case Int(dim=dim) if dim.const != -1:
                items.append(Axis(dim, visible=dim.const == 1))
            case _:
                items.append(Axis(m.sizes.fresh(line=node.span[0])))
    if sum(isinstance(i, Run) for i in items) > 1:
        items = [Run()]
    result = Tensor(Shape(tuple(items)), tensor.kind, tensor.library)
    span = span_of(where, m.path) if where is not None else None
    m.emit(f"torch.Tensor.{method}", node, (Operand("input", tensor, span=span, shape=tensor.shape),), result)
    return result


def _about_shape(
    m: Machine, tensor: Tensor, method: str, args: Sequence[Arg], keywords: Keywords, node: Node
) -> Value | None:
    match method:
        case "size":
            index = args[0].value if args else keywords["dim"].value if "dim" in keywords else None
            if index is None:
                return shape_of(m, tensor)
            number = index.dim.value if isinstance(index, Int) else None
            return Unknown("an axis is not a literal") if number is None else size_at(m, tensor, number, node)
        case "dim" | "ndimension":
            rank = m.sizes.shape(tensor.shape).rank
            return m.fresh_int() if rank is None else Int(Dim.of(rank))
        case "numel" | "nelement":
            shape = m.sizes.shape(tensor.shape)
            if shape.run is not None:
                return m.fresh_int()
            total = Dim.of(1)
            for axis in shape.axes:
                total = total * axis.dim
            return Int(total)
        case "item":
            has_one_element(m, tensor)
            for axis in m.sizes.shape(tensor.shape).axes if m.sizes.shape(tensor.shape).run is None else ():
                m.sizes.meet(axis.dim, ONE)
            if tensor.kind == "":
                return Unknown("an element of a tensor")
            if tensor.kind == "int":
                return m.fresh_int()
            real = Float()
            m.taken_out[id(real)] = real, tensor
            return real
        case "tolist":
            return Unknown("values of a tensor")
        case "numpy":
            result = m.operate("torch.Tensor.detach", node, [Arg(tensor)])
            if isinstance(result, Tensor):
                result.library = "numpy"
            return result
        case "backward" | "register_hook" | "retain_grad":
            return NoneValue()
        case "get_device" | "is_floating_point" | "is_contiguous" | "stride" | "element_size" | "data_ptr":
            return Unknown("not a size")
    return None


def assign_back(m: Machine, where: ir.Expr, value: Value) -> None:
    """Let the variable or attribute that a method changed in place hold the new value."""
    from shapedoc.infer.nodes.assignments import assign

    if isinstance(where, ir.Name) and m.lookup(where.id) is not None:
        m.store(where.id, value)
    elif isinstance(where, ir.Attribute) or (isinstance(where, ir.Subscript) and isinstance(value, Seq | DictValue)):
        assign(m, where, value)


def container_method(
    m: Machine, owner: Value, method: str, args: Sequence[Arg], keywords: Keywords, node: Node
) -> Value:
    """A method of a list, a dict, a string or a module list."""
    where = node.func.value if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) else None
    values = [a.value for a in args]
    match owner:
        case Seq():
            return _of_list(m, owner, method, values, where)
        case DictValue():
            return _of_dict(m, owner, method, values, where)
        case Container():
            return _of_modules(m, owner, method, values, where)
        case SizeOf() if method == "numel":
            return m.fresh_int()
        case Str():
            return Bool() if method in ("startswith", "endswith", "isdigit") else Str()
    return m.unknown_call(f".{method}", node, args, keywords)


def _of_list(m: Machine, seq: Seq, method: str, values: Sequence[Value], where: ir.Expr | None) -> Value:
    if method == "append" and len(values) == 1:
        if seq.rest is None and len(seq.items) < 64:
            changed = Seq((*seq.items, values[0]), "list")
        else:
            changed = Seq((), "list", join(m, [*seq.items[-1:], *((seq.rest,) if seq.rest else ()), values[0]]))
    elif method == "extend" and len(values) == 1 and isinstance(values[0], Seq) and values[0].rest is None:
        changed = Seq((*seq.items, *values[0].items), "list", seq.rest)
    elif method == "insert" and len(values) == 2 and seq.rest is None:
        number = values[0].dim.value if isinstance(values[0], Int) else None
        items = list(seq.items)
        items.insert(number or 0, values[1])
        changed = Seq(tuple(items), "list")
    elif method in ("pop", "clear", "extend", "insert", "remove", "sort", "reverse"):
        every = [*seq.items, *((seq.rest,) if seq.rest is not None else ())]
        one = join(m, every) if every else Unknown("an element of an empty list")
        if where is not None:
            assign_back(m, where, Seq((), "list", one))
        if method == "pop" and seq.rest is None and every:
            first = values[0] if values else None
            number = first.dim.value if isinstance(first, Int) else -1 if first is None else None
            if number is not None and -len(seq.items) <= number < len(seq.items):
                return seq.items[number]
        return one if method == "pop" else NoneValue()
    elif method == "copy":
        return seq
    elif method == "numel":
        total = Dim.of(1)
        for item in seq.items:
            if not isinstance(item, Int):
                return m.fresh_int()
            total = total * item.dim
        return Int(total)
    elif method in ("index", "count"):
        return m.fresh_int()
    else:
        return Unknown(f"`{method}` of a list")
    if where is not None:
        assign_back(m, where, changed)
    return NoneValue()


def _of_dict(m: Machine, owner: DictValue, method: str, values: Sequence[Value], where: ir.Expr | None) -> Value:
    match method:
        case "items":
            pairs = tuple(Seq((_key(k), v)) for k, v in owner.items.items())
            return Seq(pairs, "list", None if owner.complete else Seq((Str(), Unknown("another key"))))
        case "keys":
            return Seq(tuple(_key(k) for k in owner.items), "list", None if owner.complete else Str())
        case "values":
            return Seq(tuple(owner.items.values()), "list", None if owner.complete else Unknown("another key"))
        case "get" | "pop" | "setdefault" if values:
            key = key_of(values[0])
            if key is not None and key in owner.items:
                return owner.items[key]
            if key is not None and owner.complete:
                return values[1] if len(values) > 1 else NoneValue()
            return of_this_kind(m, key, values[1]) if len(values) > 1 else Unknown("a key that is not known")
        case "update" if values and isinstance(values[0], DictValue) and where is not None:
            merged = {**owner.items, **values[0].items}
            assign_back(m, where, DictValue(merged, owner.complete and values[0].complete))
            return NoneValue()
        case "copy":
            return owner
    return Unknown(f"`{method}` of a dict")


def of_this_kind(m: Machine, key: object, default: Value) -> Value:
    """Some value of the kind of the one that stands for it where it is not given."""
    match default:
        case Int():
            return m.fresh_int(key if isinstance(key, str) else "")
        case Bool():
            return Bool()
        case Float():
            return Float()
        case Str():
            return Str()
    return Unknown("a key that is not known")


def _key(key: object) -> Value:
    if isinstance(key, str):
        return Str(key)
    return Int(Dim.of(key)) if isinstance(key, int) else Unknown("a key")


def _count(m: Machine, owner: Container, added: int) -> None:
    """What is appended in a loop that stands for any number of rounds is there once for each of them."""
    inside = [(loop, i) for loop, i in m.loops[len(owner.loops) :] if loop in m.repeating]
    if inside:
        trips = m.repeating[inside[0][0]]
        alone = not owner.items.items and len(inside) == 1 and added == 1 and inside[0][1] == 0
        owner.length = trips if alone else owner.length if inside[0][1] == 1 and len(owner.items.items) == 1 else None
        owner.repeated = True
    elif owner.length is not None:
        owner.length = owner.length + added


def _of_modules(m: Machine, owner: Container, method: str, values: Sequence[Value], where: ir.Expr | None) -> Value:
    if method in ("append", "add_module", "extend") and values:
        added: tuple[Value, ...] = (values[-1],)
        if method == "extend":
            added = values[0].items if isinstance(values[0], Seq) else ()
        if owner.items.rest is None:
            _count(m, owner, len(added))
            m.add_modules(owner, added)
        return owner
    if method in ("to", "cuda", "eval", "train", "float", "half"):
        return owner
    match method:
        case "values" | "children":
            return owner.items
        case "items":
            return Seq(tuple(Seq((Str(n), v)) for n, v in zip(owner.names, owner.items.items, strict=False)), "list")
        case "keys":
            return Seq(tuple(Str(n) for n in owner.names), "list")
    return Unknown(f"`{method}` of a module list")
