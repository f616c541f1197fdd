"""Stacks of layers: where another round of a loop over modules would see what the last one saw.

A loop over time needs two rounds, as its state before the first differs from the state after it. A loop over the
modules of a list goes through depth: each is fed what the one before it made. Where that has the shape of what went
in, another module of the same make would be fed the same again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.shape import Axis, Run
from shapedoc.core.value import Int, Layer, Seq, Tensor, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Choice, Container, Instance, Symbolic

__all__ = ["brings_nothing", "goes_deeper"]


def brings_nothing(m: Machine, element: Value, following: Value, before: Mapping[str, Value], mark: int) -> bool:
    """Whether a round over `following` would repeat the last one, over `element`, which began with `before`.

    mark: how long the journal of attributes was then.
    """
    if len(m.journal) != mark or not _is_module(element) or not _stands_for(element, following):
        return False
    for name, value in m.frame.variables.items():
        earlier = before.get(name)
        if earlier is not None and earlier is not value and not _same(m, earlier, value):
            return False
    return True


def goes_deeper(elements: Sequence[Value]) -> bool:
    """Whether a loop goes through modules of which the first is not like the next: none can stand for another."""
    return len(elements) > 1 and _is_module(elements[0]) and not _stands_for(elements[0], elements[1])


def _is_module(element: Value) -> bool:
    if isinstance(element, Seq):
        return any(_is_module(item) for item in element.items)
    return isinstance(element, Layer | Instance | Container | Choice)


def _stands_for(element: Value, following: Value) -> bool:
    """Whether one element is the other, or differs from it in a number that is not known only."""
    if element is following:
        return True
    if isinstance(element, Seq) and isinstance(following, Seq) and len(element.items) == len(following.items):
        return all(_stands_for(a, b) for a, b in zip(element.items, following.items, strict=True))
    return isinstance(element, Int) and isinstance(following, Int) and following.dim.value is None


def _same(m: Machine, earlier: Value, value: Value) -> bool:
    """Whether two values are alike in all that another round could notice."""
    if _is_module(value):
        return _stands_for(earlier, value)  # the variable of the loop
    if isinstance(earlier, Symbolic) and earlier.used_as_tensor:
        earlier = earlier.as_tensor()
    match earlier, value:
        case Tensor(), Tensor():
            return earlier.kind in ("", value.kind) and _same_shape(m, earlier, value)
        case Int(), Int():
            return m.sizes.resolve(earlier.dim) == m.sizes.resolve(value.dim)
    return False


def _same_shape(m: Machine, one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes, as far as anything is known of them."""
    a, b = m.sizes.shape(one.shape), m.sizes.shape(other.shape)
    return len(a.items) == len(b.items) and all(map(_same_item, a.items, b.items))


def _same_item(a: Axis | Run, b: Axis | Run) -> bool:
    """Whether two axes have one size, or neither number of axes is known."""
    if isinstance(a, Axis) and isinstance(b, Axis):
        return a.dim == b.dim
    return isinstance(a, Run) and isinstance(b, Run)
