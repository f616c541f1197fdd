"""What becomes of attention weights: the products and sums in which they meet the values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import PRODUCTS, contraction, is_number, names, reduced_axes, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, result_shape, shape_at
from shapedoc.rules.reading.softmaxes import Softmax, denominator, holds, is_axis
from shapedoc.rules.reading.walks import twins

__all__ = ["Use", "Weighted", "followed", "is_mask", "is_right", "uses", "weighted", "wrong_use"]

# What weights pass through and stay weights.
_ON = SHAPING | names("dropout Dropout.forward masked_fill where nan_to_num alpha_dropout clamp")
_SUMS = names("sum mean nansum")


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """Weights that are multiplied with values and summed.

    event: the product or the sum. how: "product", "sum" or "mean". summed: the axes of the weights (for a sum, of
    weights times values) that are summed; kept: the others. values: what is weighted; values_summed: its summed axes.
    times: where weights and values were multiplied.
    """

    event: Event
    how: str
    summed: tuple[Axis, ...]
    kept: tuple[Axis, ...]
    values: Operand
    values_summed: tuple[Axis, ...]
    times: Event


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """Weights times values, element by element: the event, the operand that is weighted, and that of the weights."""

    event: Event
    values: Operand
    weights: Operand


def followed(g: Graph, softmax: Softmax) -> Iterator[tuple[Event, Event]]:
    """Every event that uses the weights (or what layouts and dropout made of them), and the event it took them from."""
    seen: set[int] = set()
    stack = [softmax.event]
    while stack:
        current = stack.pop()
        for user in g.users[current.index]:
            if user.index in seen:
                continue
            seen.add(user.index)
            yield user, current
            if _goes_on(g, user, current):
                stack.append(user)


def _goes_on(g: Graph, user: Event, current: Event) -> bool:
    if user.short in _ON:
        return True
    if user.short not in ("mul", "div", "add", "sub") or denominator(g, user) is not None:
        return False
    operands = tensor_operands(user)
    others = [o for o in operands if g.producer(o.value) is not current]
    return all(is_number(o) or is_mask(g, o) for o in others)


def is_mask(g: Graph, operand: Operand) -> bool:
    """Whether a factor is made of truth values."""
    value = operand.value
    if not isinstance(value, Tensor):
        return False
    if value.kind == "bool":
        return True
    event = g.producer(value)
    return event is not None and any(
        isinstance(e.result, Tensor) and e.result.kind == "bool" for e in _layouts(g, event)
    )


def _layouts(g: Graph, event: Event) -> Iterator[Event]:
    """An event and those whose results it lays out; what elements are chosen with is no part of them."""
    seen, pending = set[int](), [event]
    while pending:
        current = pending.pop()
        if current.index in seen:
            continue
        seen.add(current.index)
        yield current
        if current.short == "getitem":
            pending.extend(g.producers(current.value("input")))
        elif current.short in SHAPING:
            pending.extend(g.inputs(current))


def weighted(g: Graph, softmax: Softmax) -> Iterator[Weighted]:
    """Where weights multiply values element by element: values have an axis that the weights lack."""
    for user, current in followed(g, softmax):
        if user.short != "mul":
            continue
        operands = tensor_operands(user)
        if len(operands) != 2:
            continue
        ours = next((o for o in operands if g.producer(o.value) is current), None)
        theirs = next((o for o in operands if o is not ours), None)
        if ours is None or theirs is None or is_number(theirs) or is_mask(g, theirs):
            continue
        if _widens(user, ours, theirs):
            yield Weighted(user, theirs, ours)


def _widens(event: Event, ours: Operand, theirs: Operand) -> bool:
    left, right = shape_at(event, ours), shape_at(event, theirs)
    if left is None or right is None or left.run is not None or right.run is not None:
        return False
    own = [a for a in left.axes if a.dim != ONE]
    result = result_shape(event)
    if result is None or result.rank is None:
        return False
    spread = [a for i, a in enumerate(reversed(result.axes)) if i >= len(left.axes) or left.axes[-1 - i].dim == ONE]
    return bool(own) and any(a.dim != ONE for a in spread)


def uses(g: Graph, softmax: Softmax) -> Iterator[Use]:
    """Every product and sum in which the weights meet values; learned maps and other weights are no values."""
    for user, current in followed(g, softmax):
        if user.short not in PRODUCTS or _unfit(g, user):
            continue
        for operand in tensor_operands(user):
            found = contraction(user, operand) if g.producer(operand.value) is current else None
            if found is not None and _is_value(g, found.theirs):
                yield Use(user, "product", found.summed, found.kept, found.theirs, found.other_summed, user)
    for product in weighted(g, softmax):
        yield from _sums(g, product)


def _unfit(g: Graph, event: Event) -> bool:
    """Whether some walk has a product refuse the ranks of its operands: what it would sum says nothing."""
    return any(p.kind == "wrong-rank" for e in (event, *twins(g.trace, event)) for p in e.problems)


def _is_value(g: Graph, operand: Operand) -> bool:
    value = operand.value
    if not isinstance(value, Tensor) or value.learned:
        return False
    event = g.producer(value)
    return event is None or not _normalised(g, event)


def _normalised(g: Graph, event: Event) -> bool:
    through = _ON | {"mul", "div", "add", "sub"}
    return any(e.short in ("softmax", "Softmax.forward") for e in g.back(event, lambda e: e.short in through))


def _sums(g: Graph, product: Weighted) -> Iterator[Use]:
    for event in g.forward(product.event, lambda e: e.short in SHAPING):
        operands = tensor_operands(event)
        shape = shape_at(event, operands[0]) if operands else None
        if event.short not in _SUMS or shape is None:
            continue
        axes = reduced_axes(event, shape)
        if axes is None:
            continue
        kept = tuple(a for a in shape.axes if not any(a is b for b in axes))
        how = "mean" if event.short == "mean" else "sum"
        yield Use(event, how, axes, kept, product.values, axes, product.event)


def is_right(use: Use, axis: Axis) -> bool:
    """Whether the normalised axis is among those that are summed, or what was summed is not known to be another."""
    return any(holds(s, axis) for s in use.summed)


def wrong_use(softmax: Softmax, use: Use) -> Axis | None:
    """The axis of the scores that is summed although another one was normalised.

    It takes both to say so: the normalised axis is still there after the sum, and the summed one is of the scores. The
    values decide which of the two is meant, where they have only one of them.
    """
    axis, shape = softmax.axis, softmax.shape
    if axis is None or shape is None or not _is_kept(use, axis):
        return None
    single = use.how == "product" and not any(_was_one(use, v) for v in use.values_summed)
    others = [a for a in shape.axes if not is_axis(axis, a) and (a.dim != ONE or single)]
    summed = next((a for a in others if any(is_axis(s, a) for s in use.summed)), None)
    if summed is None:
        return None
    if use.how == "product" and _only(use.values_summed, axis, summed):
        return None
    return summed


def _is_kept(use: Use, axis: Axis) -> bool:
    """Whether an axis is still there after a sum, or what it was joined of and cut into again."""
    parts = axis.factors if len(axis.factors) > 1 else (axis,)
    return any(is_axis(k, axis) for k in use.kept) or all(any(is_axis(k, p) for k in use.kept) for p in parts)


def _was_one(use: Use, axis: Axis) -> bool:
    """Whether an axis of the values had the size 1 before it met the weights."""
    before = use.values.shape.axes if use.values.shape is not None else ()
    return axis.visible or any(a.dim == ONE and not a.ids.isdisjoint(axis.ids) for a in before)


def _only(values: tuple[Axis, ...], axis: Axis, summed: Axis) -> bool:
    """Whether the values are summed over the normalised axis, and the product took another one of the weights."""
    return any(v.same(axis) for v in values) and not any(v.same(summed) for v in values)
