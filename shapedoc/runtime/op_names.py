"""From a function that torch calls to the name it has in the op table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import torch

from shapedoc.ops.registry import table
from shapedoc.rules.reading.contractions import names
from shapedoc.source import ir
from shapedoc.source.operators import ARITHMETIC, COMPARISONS

__all__ = ["PASSIVE", "is_reflected", "name_of", "operator_of"]

# What says something of a tensor and makes none.
PASSIVE = names(
    "__bool__ __float__ __int__ __index__ __len__ __format__ __repr__ __str__ __hash__ __contains__ "
    "__dir__ __reduce_ex__ __deepcopy__ __setstate__ __array__ item tolist dim ndimension numel nelement "
    "stride is_contiguous is_floating_point is_complex data_ptr element_size storage untyped_storage "
    "get_device backward requires_grad_ register_hook retain_grad allclose equal is_tensor is_nonzero "
    "storage_offset has_names is_inference is_same_size is_set_to is_signed result_type"
)


def operator_of(node: ir.Expr | ir.Stmt | None, function: object) -> str:
    """The operator that a node stands for (``operator.matmul``), "" where it is none."""
    called = getattr(function, "__name__", "")
    match node:
        case ir.BinOp() | ir.AugAssign():
            return f"operator.{ARITHMETIC[node.op]}"
        case ir.Compare() if called.strip("_") in COMPARISONS.values():
            return f"operator.{called.strip('_')}"
        case ir.UnaryOp(op="-"):
            return "operator.neg"
        case ir.UnaryOp(op="~"):
            return "operator.invert"
    if called == "__getitem__":
        return "operator.getitem"
    if called == "__setitem__":
        return "operator.setitem"
    return ""


def is_reflected(function: object) -> bool:
    """Whether the function is an operator's that takes its operands the other way round (``2 - x``)."""
    called = getattr(function, "__name__", "")
    return called.startswith("__r") and called.endswith("__") and called != "__repr__" and called[3:4].isalpha()


def name_of(function: Callable[..., Any]) -> str:
    """The qualified name of a function of torch; of a tensor's attribute, that of the attribute."""
    name = _known().get(function)
    if name is not None:
        return name
    called = getattr(function, "__name__", "")
    if called == "__get__":
        attribute = getattr(getattr(function, "__self__", None), "__name__", "")
        return f"torch.Tensor.{attribute}"
    module = getattr(function, "__module__", None)
    return f"{module}.{called}" if isinstance(module, str) else f"torch.Tensor.{called}"


@lru_cache(maxsize=1)
def _known() -> dict[object, str]:
    """Every function of the table that this torch has."""
    found: dict[object, str] = {}
    for name in table()[0]:
        function = _resolve(name)
        if callable(function):
            found.setdefault(function, name)
    return found


@cache
def _resolve(name: str) -> object:
    first, *rest = name.split(".")
    if first != "torch":
        return None
    value: object = torch
    for part in rest:
        value = getattr(value, part, None)
    return value
