"""What of a statement a comment can be about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from shapedoc.source.contracts.layout import target_names
from shapedoc.source.ir import (
    Assign,
    Attribute,
    AugAssign,
    BinOp,
    Call,
    Const,
    Dict,
    Expr,
    ExprStmt,
    FString,
    FunctionDef,
    Generator,
    Lambda,
    Name,
    Param,
    Return,
    Sequence,
    Stmt,
    Subscript,
)

__all__ = [
    "ends_on",
    "input_name",
    "is_no_tensor",
    "is_reshaped",
    "kept_value",
    "lays_out",
    "parameter_on",
    "printed_shape_of",
    "reads",
    "returned",
]

_LAYOUTS = frozenset(
    ("unsqueeze", "squeeze", "view", "reshape", "transpose", "permute", "expand", "repeat", "flatten", "unflatten")
)
_EXCHANGES = frozenset(("transpose", "permute", "swapaxes", "t"))
_NUMBERS = frozenset(("len", "int", "float", "range", "str", "max", "min", "tuple", "list", "dict", "isinstance"))


def returned(stmt: Return) -> list[Expr]:
    """The values that a return gives: the items of a tuple."""
    value = stmt.value
    if value is None:
        return []
    return list(value.items) if isinstance(value, Sequence) and value.kind == "tuple" else [value]


def is_no_tensor(value: Expr | None) -> bool:
    """Whether a value is a size, a shape, a literal or a function: a comment beside it states no shape of it."""
    match value:
        case Const() | Dict() | Lambda() | FString():
            return True
        case Attribute(attr="shape" | "ndim"):
            return True
        case Subscript(value=inner):
            return is_no_tensor(inner) if isinstance(inner, Attribute | Call) else False
        case Call(func=Attribute(attr="size" | "dim" | "item" | "tolist" | "numel")):
            return True
        case Call(func=Name(id=name)):
            return name in _NUMBERS
        case Sequence(items=items):
            return all(is_no_tensor(i) for i in items)
        case BinOp(left=left, right=right):
            return is_no_tensor(left) and is_no_tensor(right)
        case _:
            return False


def input_name(stmt: Stmt) -> str:
    """The variable that a statement reshapes: the receiver of its calls or the first argument; "" if there is none."""
    value = stmt.value if isinstance(stmt, Assign | Return | ExprStmt | AugAssign) else None
    while value is not None:
        match value:
            case Name(id=name):
                return name
            case Call(func=Attribute(value=inner), args=args):
                root = inner
                while isinstance(root, Attribute):
                    root = root.value
                module = (
                    isinstance(inner, Name | Attribute)
                    and isinstance(root, Name)
                    and (root.id in ("torch", "F", "np", "self", "nn", "numpy") or isinstance(inner, Attribute))
                )
                value = (args[0] if args else None) if module else inner
            case Call(args=[first, *_]):
                value = first
            case Subscript(value=inner):
                value = inner
            case _:
                return ""
    return ""


def printed_shape_of(value: Expr) -> str:
    """The variable of ``print(x.shape)`` and ``x.shape``, "" of anything else."""
    if isinstance(value, Call) and isinstance(value.func, Name) and value.func.id == "print" and value.args:
        value = value.args[-1]
    if isinstance(value, Call) and isinstance(value.func, Attribute) and value.func.attr == "size" and not value.args:
        value = value.func
    if isinstance(value, Attribute) and value.attr in ("shape", "size") and isinstance(value.value, Name):
        return value.value.id
    return ""


def parameter_on(function: FunctionDef, line: int) -> str | None:
    """The one parameter on a line of a header that has several lines."""
    if function.header[0] == function.header[2]:
        return None
    here = [p for p in function.params if p.span[2] == line and p.name not in ("self", "cls")]
    return here[0].name if len(here) == 1 else None


def kept_value(value: Expr) -> Expr | None:
    """What ``outputs.append(x)`` and ``self.register_buffer("p", x)`` keep: the statement itself has no value."""
    match value:
        case Call(func=Attribute(attr="append" | "appendleft"), args=[kept]):
            return kept
        case Call(func=Attribute(attr="register_buffer" | "register_parameter"), args=[_, kept, *_]):
            return kept
        case _:
            return None


def ends_on(stmt: Stmt, line: int) -> Expr | None:
    """The largest expression of a statement of those that end last on `line`.

    A comment after an open bracket (``self.proj(  # (B, T)``) is said of the call.
    """
    best: Expr | None = None
    calls: dict[int, Call] = {}
    for node in _inside(stmt):
        if node.span[0] > line:
            continue
        if isinstance(node, Call):
            calls[id(node.func)] = node
        if node.span[2] == line and (best is None or _beyond(node, best)):
            best = node
    return best if best is None else calls.get(id(best), best)


def _beyond(node: Expr, best: Expr) -> bool:
    if node.span[3] != best.span[3]:
        return node.span[3] > best.span[3]
    return node.span[:2] < best.span[:2]


def reads(stmt: Stmt, name: str) -> bool:
    """Whether a variable stands anywhere in a statement; of an attribute that is not asked."""
    return "." in name or any(isinstance(n, Name) and n.id == name for n in _inside(stmt))


def lays_out(stmt: Stmt, name: str) -> bool:
    """Whether an assignment gives what it makes of a variable another layout in the end: ``y = f(x).view(...)``."""
    value = stmt.value if isinstance(stmt, Assign) else None
    layout = isinstance(value, Call) and isinstance(value.func, Attribute) and value.func.attr in _LAYOUTS
    return layout and name not in target_names(stmt) and input_name(stmt) == name


def exchanges(stmt: Stmt, name: str) -> bool:
    """Whether an assignment takes axes of a variable in another order, and does nothing more."""
    value = stmt.value if isinstance(stmt, Assign) else None
    called = value.func if isinstance(value, Call) else None
    direct = isinstance(called, Attribute) and isinstance(called.value, Name) and called.value.id == name
    return direct and isinstance(called, Attribute) and called.attr in _EXCHANGES


def is_reshaped(stmt: Stmt, name: str) -> bool:
    """Whether a statement uses ``name.unsqueeze(1)`` or ``owner.name[0]``: a comment may be about that, or its part."""
    if name in target_names(stmt):
        return any(isinstance(n, Subscript) and _attribute_in(n.value) == name for n in _inside(stmt))
    return any(
        isinstance(n, Call)
        and isinstance(n.func, Attribute)
        and n.func.attr in _LAYOUTS
        and isinstance(n.func.value, Name)
        and n.func.value.id == name
        for n in _inside(stmt)
    )


def _attribute_in(node: Expr) -> str:
    """The attribute of another object that a chain of calls begins with: ``w`` of ``layer.w.cpu().numpy()``."""
    while isinstance(node, Call) and isinstance(node.func, Attribute):
        node = node.func.value
    return node.attr if isinstance(node, Attribute) else ""


def _inside(stmt: Stmt) -> Iterator[Expr]:
    """Every expression in a statement."""
    pending: list[object] = [getattr(stmt, f.name) for f in fields(stmt) if f.name != "span"]
    while pending:
        node = pending.pop()
        if isinstance(node, list | tuple):
            pending.extend(node)
        elif isinstance(node, Generator):
            pending.extend((node.target, node.iterable, node.conditions))
        elif isinstance(node, Param):
            pending.append(node.default)
        elif isinstance(node, Expr):
            yield node
            pending.extend(getattr(node, f.name) for f in fields(node) if f.name != "span")
