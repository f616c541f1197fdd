"""What ``nn.Module`` gives every model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.value import NoneValue, Str, Tensor, Unknown, Value
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.values import Instance

__all__ = ["SELF_METHODS", "module_method"]

# Methods that give the module itself back.
SELF_METHODS = frozenset(
    [
        "to",
        "cuda",
        "cpu",
        "eval",
        "train",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "apply",
        "type",
        "share_memory",
    ]
)


def module_method(m: Machine, owner: Instance, method: str, args: Sequence[Arg], keywords: Mapping[str, Arg]) -> Value:
    """The value of a method that no model defines itself."""
    if method in SELF_METHODS:
        return owner
    values = [a.value for a in args] + [keywords[k].value for k in ("tensor", "param", "module") if k in keywords]
    if method in ("register_buffer", "register_parameter", "add_module", "register_module") and len(values) >= 2:
        if isinstance(values[0], Str) and values[0].value:
            value = values[1]
            if method == "register_parameter" and isinstance(value, Tensor):
                value.learned = True
            m.set_attribute(owner, values[0].value, value)
        else:
            owner.open = True
        return NoneValue()
    if method == "__init__":
        return NoneValue()
    return Unknown(f"`{method}` of a module")
