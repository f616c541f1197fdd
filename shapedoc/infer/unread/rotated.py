"""Rotary embeddings that are imported: what is turned by one keeps its shape."""

from __future__ import annotations

import re

from shapedoc.core.trace import Operand
from shapedoc.core.value import Seq, Tensor, Unknown, Value
from shapedoc.infer.machine import Machine, span_of
from shapedoc.infer.values import Symbolic
from shapedoc.source import ir
from shapedoc.source.walk import last_name

__all__ = ["rotated"]

# What functions and modules are called that turn queries and keys by their positions, and what is turned by them.
_ROTATES = re.compile(r"rotary|rotate|(^|_)ro?pe(_|$)", re.IGNORECASE)
_TURNED = re.compile(r"(^|_)(rot(ated|ary)?|rope|pe|r)(?=_|$)")


def rotated(m: Machine, target: ir.Expr, value: Value, source: ir.Expr | None) -> Value:
    """``q = apply_rotary(q, cos, sin)`` and ``q, k = rope(q, k)`` of what cannot be followed: each is shaped as it was.

    The names say what becomes of what. A call that makes the angles gives them other names.
    """
    if not isinstance(value, Unknown) or not isinstance(source, ir.Call) or not _ROTATES.search(last_name(source.func)):
        return value
    if isinstance(target, ir.Sequence):
        parts = [_turned(m, t, source) for t in target.items]
        return Seq(tuple([p for p in parts if p is not None])) if parts and None not in parts else value
    return _turned(m, target, source) or value


def _turned(m: Machine, target: ir.Expr, call: ir.Call) -> Tensor | None:
    """The argument that the target is named after, turned."""
    if not isinstance(target, ir.Name):
        return None
    wanted = {target.id, _TURNED.sub("", target.id).strip("_")}
    arg = next((a for a in call.args if isinstance(a, ir.Name) and a.id in wanted), None)
    tensor = m.lookup(arg.id) if arg is not None else None
    if isinstance(tensor, Symbolic):
        tensor = tensor.as_tensor()
    if arg is None or not isinstance(tensor, Tensor):
        return None
    result = Tensor(tensor.shape, tensor.kind, tensor.library)
    m.emit("rotary", call, (Operand("input", tensor, span=span_of(arg, m.path), shape=tensor.shape),), result)
    return result
