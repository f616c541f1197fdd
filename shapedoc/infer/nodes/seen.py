"""Values of which nothing is known, and that are used as only a tensor can be: they are one from there on.

``out, weights = attend(q, k, v)`` of a function that is not read, then ``B, H, T, d = out.size()``: what is learnt of
`out` there holds wherever it is used next.
"""

from __future__ import annotations

from shapedoc.core.value import Unknown, Value
from shapedoc.infer.branches.join import OPTIONAL
from shapedoc.infer.machine import Machine
from shapedoc.infer.nodes.attributes import TENSOR_ONLY
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.source import ir

__all__ = ["as_seen"]

_TENSORS = TENSOR_ONLY | {"shape", "size"}


def as_seen(m: Machine, value: Unknown, node: ir.Attribute) -> Value:
    """The tensor that a variable is by what is asked of it, or the value as it was; a test does but ask."""
    name = node.value
    if not isinstance(name, ir.Name) or node.attr not in _TENSORS or value.reason == OPTIONAL:
        return value
    if m.testing or name.id not in m.frame.variables or m.libraries.isdisjoint(("torch", "numpy")):
        return value
    made = as_tensor(value)
    m.store(name.id, made)
    return made
