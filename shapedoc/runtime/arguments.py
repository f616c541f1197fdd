"""The arguments of a call that is running, as values with their places in the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from shapedoc.core.value import (
    Bool,
    DictValue,
    Dtype,
    EllipsisValue,
    Kind,
    NoneValue,
    Seq,
    SliceValue,
    Str,
    Unknown,
    Value,
)
from shapedoc.infer.operands import Arg
from shapedoc.runtime.shadows import is_array
from shapedoc.source import ir

if TYPE_CHECKING:
    from shapedoc.runtime.recorder import RunRecorder

__all__ = ["Arguments"]


class Arguments:
    """Reads arguments for one recorder."""

    def __init__(self, recorder: RunRecorder) -> None:
        self.recorder = recorder

    def call(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], node: ir.Expr | ir.Stmt | None, method: bool
    ) -> tuple[list[Arg], dict[str, Arg]]:
        """The arguments of a call; `method`: the first stands before the dot."""
        positional, named = _nodes(node, method)
        found = [
            Arg(
                self.value(a, positional[i] if i < len(positional) else None),
                positional[i] if i < len(positional) else None,
            )
            for i, a in enumerate(args)
        ]
        # A function of Python hands keywords on that stand as positional arguments in the source.
        left = positional[len(args) :]
        keywords: dict[str, Arg] = {}
        for key, value in kwargs.items():
            written = named.get(key)
            if written is None and key in _NAMES_AGAIN:
                written = named.get(_NAMES_AGAIN[key])
            if written is None and left and key not in _PLUMBING:
                written = left.pop(0)
            keywords[key] = Arg(self.value(value, written), written)
        return found, keywords

    def value(self, value: Any, node: ir.Expr | None = None) -> Value:
        """One value; `node` is where it is written."""
        recorder = self.recorder
        if is_array(value):
            return recorder.shadows.of(value, node.id if isinstance(node, ir.Name) else "")
        match value:
            case None:
                return NoneValue()
            case bool():
                return Bool(value)
            case int():
                return recorder.figures.whole(value, node, recorder.activation)
            case float():
                return recorder.figures.real(value, node, recorder.activation)
            case str():
                return Str(value)
            case tuple() | list():
                return self._sequence(value, node)
            case slice():
                parts = (node.lower, node.upper, node.step) if isinstance(node, ir.Slice) else (None, None, None)
                lower, upper, step = (
                    self.value(v, p) for v, p in zip((value.start, value.stop, value.step), parts, strict=True)
                )
                return SliceValue(lower, upper, step)
            case dict():
                return DictValue({k: self.value(v) for k, v in value.items() if isinstance(k, str | int)})
            case torch.dtype():
                return Dtype(_kind(value), str(value).removeprefix("torch."))
        if value is Ellipsis:
            return EllipsisValue()
        layer = recorder.shadows.layer(value)
        return layer if layer is not None else Unknown(f"a {type(value).__name__}")

    def _sequence(self, value: Sequence[Any], node: ir.Expr | None) -> Seq:
        items = node.items if isinstance(node, ir.Sequence) and len(node.items) == len(value) else [None] * len(value)
        if any(isinstance(i, ir.Starred) for i in items):
            items = [None] * len(value)
        parts = tuple(self.value(v, i) for v, i in zip(value, items, strict=True))
        return Seq(parts, "list" if isinstance(value, list) else "tuple")


# Keywords that functions of torch pass to themselves.
_PLUMBING = frozenset(("_stacklevel", "dtype", "out", "memory_format", "device", "layout", "requires_grad"))
_NAMES_AGAIN = {"dim": "axis", "keepdim": "keepdims", "input": "x"}


def _nodes(node: ir.Expr | ir.Stmt | None, method: bool) -> tuple[list[ir.Expr | None], dict[str, ir.Expr]]:
    """Where the positional arguments and the keywords of an operation stand."""
    match node:
        case ir.Call():
            first: list[ir.Expr | None] = []
            if method and isinstance(node.func, ir.Attribute):
                first.append(node.func.value)
            for arg in node.args:
                if isinstance(arg, ir.Starred):
                    break
                first.append(arg)
            return first, {k: v for k, v in node.keywords if k is not None}
        case ir.BinOp():
            return [node.left, node.right], {}
        case ir.AugAssign():
            return [node.target, node.value], {}
        case ir.Compare():
            return [node.left, node.comparators[0]], {}
        case ir.UnaryOp():
            return [node.operand], {}
        case ir.Subscript():
            return [node.value, node.index], {}
        case ir.Attribute():
            return [node.value], {}
    return [], {}


def _kind(dtype: torch.dtype) -> Kind:
    if dtype == torch.bool:
        return "bool"
    return "float" if dtype.is_floating_point else "complex" if dtype.is_complex else "int"
