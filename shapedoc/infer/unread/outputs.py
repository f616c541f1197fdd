"""Tensors that are given to an operation for its result: ``torch.topk(x, k, out=(values, indices))``."""

from __future__ import annotations

from collections.abc import Mapping

from shapedoc.core.shape import Shape
from shapedoc.core.value import Seq, Tensor, Unknown, Value
from shapedoc.infer.machine import Arg, Machine

__all__ = ["written_out"]


def written_out(m: Machine, keywords: Mapping[str, Arg], result: Value) -> Value:
    """What an operation gives; what it writes its result to has the shape of it, whatever shape it had."""
    if "out" in keywords:
        _take(m, keywords["out"].value, result)
    return result


def _take(m: Machine, out: Value, result: Value) -> None:
    match out:
        case Tensor():
            out.shape = m.sizes.shape(result.shape) if isinstance(result, Tensor) else Shape.unknown()
        case Seq(items=items, rest=None):
            parts = result.items if isinstance(result, Seq) and result.rest is None else ()
            for i, item in enumerate(items):
                _take(m, item, parts[i] if i < len(parts) else Unknown("what an operation gives"))
