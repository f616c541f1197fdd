"""What goes into an operation, as the trace keeps it, and what comes out, as a value of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shapedoc.core.trace import Operand
from shapedoc.core.value import DictValue, Layer, Seq, Tensor, Value
from shapedoc.infer.spans import span_of
from shapedoc.infer.values import Symbolic
from shapedoc.ops.calling.bind import Outcome
from shapedoc.source import ir

__all__ = ["Arg", "as_own", "claim", "operand_of", "operands_of", "replace_tensor"]


@dataclass(slots=True, eq=False)
class Arg:
    """An argument of a call: its value, and where it stands in the source. Never changed; not frozen, for speed."""

    value: Value
    node: ir.Expr | None = None


def operands_of(outcome: Outcome, args: Sequence[Arg], keywords: Mapping[str, Arg], path: str) -> tuple[Operand, ...]:
    """The operands of an op that has been evaluated, by its parameters; `path`: of the file that they stand in."""
    out = []
    places, count = outcome.places, len(args)
    for name, value in outcome.bound.items():
        place = places[name]
        arg = keywords.get(place) if isinstance(place, str) else args[place] if place < count else None
        operand = operand_of(name, value, arg.node if arg is not None else None, path)
        if arg is not None and value is not arg.value and isinstance(place, int) and isinstance(value, Seq):
            parts = [operand_of(f"{name}[{i}]", a.value, a.node, path) for i, a in enumerate(args[place:])]
            operand = replace(operand, parts=tuple(parts))
        out.append(operand)
    return tuple(out)


def operand_of(name: str, value: Value, node: ir.Expr | None, path: str) -> Operand:
    """One operand, with its shape where it is a tensor, and its elements where it is a list that is written out."""
    span = span_of(node, path) if node is not None else None
    if isinstance(value, Tensor):
        return Operand(name, value, "", span, value.shape)
    if isinstance(value, Seq):
        return Operand(name, value, "", span, None, _parts(name, value, node, path))
    if isinstance(value, Symbolic) and value._tensor is not None:
        return Operand(name, value._tensor, "", span, value._tensor.shape)
    return Operand(name, value, "", span)


def _parts(name: str, value: Seq, node: ir.Expr | None, path: str) -> tuple[Operand, ...]:
    if not isinstance(node, ir.Sequence) or len(node.items) != len(value.items):
        return ()
    if any(isinstance(item, ir.Starred) for item in node.items):
        return ()
    pairs = zip(value.items, node.items, strict=True)
    return tuple(operand_of(f"{name}[{i}]", item, part, path) for i, (item, part) in enumerate(pairs))


def as_own(value: Value, args: Sequence[Arg]) -> Value:
    """The result as a value of its own, where the op handed an argument through."""
    if isinstance(value, Tensor):
        if value.event >= 0 or value.learned or any(a.value is value for a in args):
            return replace_tensor(value)
        return value
    if isinstance(value, Seq):
        items = tuple(as_own(v, args) for v in value.items)
        return Seq(items, value.kind, value.rest, value.length, value.names)
    return value


def replace_tensor(tensor: Tensor) -> Tensor:
    """The same tensor as a new value."""
    return Tensor(
        tensor.shape,
        tensor.kind,
        tensor.library,
        learned=tensor.learned,
        order=tensor.order,
        source=tensor.source if tensor.source.startswith("packed sequence") else "",
        number=tensor.number,
    )


def claim(value: Value, index: int) -> None:
    """Tell what nobody made before that the event of this index made it."""
    match value:
        case Tensor():
            if value.event < 0:
                value.event = index
        case Seq():
            for item in value.items:
                claim(item, index)
        case DictValue():
            for item in value.items.values():
                claim(item, index)
        case Layer():
            if value.event < 0:
                value.event = index
        case _:
            pass
