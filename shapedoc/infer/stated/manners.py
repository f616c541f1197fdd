"""Manners of speaking: a statement that does not fit a tensor, and is no disagreement.

It may be said of another tensor of the line, of a step in the middle of it, or leave out what everybody leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import Bool, Tensor, Unknown
from shapedoc.infer.branches.granted import asks_sizes
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Instance
from shapedoc.ops.calling.context import seen_twice
from shapedoc.source import ir
from shapedoc.source.contracts import Bound, DimExpr, Named, Number, Product, Rest, StatedShape
from shapedoc.source.walk import blocks

__all__ = [
    "READ_BY_PROGRAMS",
    "fitting",
    "has_two_meanings",
    "is_held",
    "is_imagined",
    "is_of_a_step",
    "is_of_another",
    "is_too_short",
    "is_turned_unread",
    "leaves_ones_out",
    "names_a_one",
    "returned_as",
    "sizes_named",
    "stands_alone",
]

# Forms whose contradiction is certain to be the code's.
READ_BY_PROGRAMS = frozenset(("explicit", "jaxtyping", "annotation", "assert"))

_TURNS = frozenset(("transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis", "T", "mT", "t"))


def fitting(stated: StatedShape, shape: Shape) -> tuple[DimExpr, ...] | None:
    """The stated dims, ``...`` taken out where the rank is known; None where the rank cannot be that."""
    if shape.rank is None and any(len(a) != len(stated.dims) for a in stated.alternatives):
        return None  # which of them it is here is not known
    for dims in (stated.dims, *stated.alternatives):
        rest = [i for i, d in enumerate(dims) if isinstance(d, Rest)]
        if shape.rank is None:
            if not rest and len(dims) >= len(shape.items) - 1:
                return dims
            continue
        if not rest and len(dims) == shape.rank:
            return dims
        if len(rest) == 1 and len(dims) - 1 <= shape.rank:
            missing = shape.rank - len(dims) + 1
            return (*dims[: rest[0]], *(Rest(),) * missing, *dims[rest[0] + 1 :])
    return None


def is_too_short(stated: StatedShape, shape: Shape) -> bool:
    """Whether a shape has more axes than are stated, however many it has besides those that are known."""
    if stated.rank is None or seen_twice(shape, len(stated.dims)) or stated.index is not None:
        return False
    said = (stated.dims, *stated.alternatives)
    return not any(isinstance(d, Rest) for dims in said for d in dims) and all(len(d) < len(shape.axes) for d in said)


def is_turned_unread(m: Machine, value: Tensor) -> bool:
    """Whether a tensor is what was turned of a value that is not known: its comment may speak of before or of after."""
    made = m.trace.events[value.event] if 0 <= value.event < len(m.trace.events) else None
    if made is None or made.short not in _TURNS:
        return False
    source = made.value("input")
    if not isinstance(source, Tensor) or source.source or source.shape.rank is not None:
        return False
    return source.event < 0 or not isinstance(m.trace.events[source.event].result, Tensor)


def is_of_another(m: Machine, statement: ir.Stmt, bound: Bound, named: Tensor) -> bool:
    """Whether a comment names a tensor that it does not fit, and fits what the statement assigns instead.

    Where the statement lays that tensor out anew under another name, it may speak of before or of after.
    """
    if isinstance(statement, ir.Assign) and _lays_out(statement, bound.name):
        return True
    shape = m.sizes.shape(named.shape)
    fits = shape.rank is not None and fitting(bound.shape, shape) is not None
    if not isinstance(statement, ir.Assign) or fits:
        return False
    targets = [t.id for t in statement.targets if isinstance(t, ir.Name)]
    values = [m.lookup(t) for t in targets] if bound.name not in targets else []
    return any(
        isinstance(v, Tensor)
        and m.sizes.shape(v.shape).rank is not None
        and fitting(bound.shape, m.sizes.shape(v.shape)) is not None
        for v in values
    )


# What gives a tensor's axes another order.
_ORDERS = frozenset(("transpose", "permute", "swapaxes", "swapdims", "movedim", "t", "T", "mT", "transpose_"))


def _lays_out(statement: ir.Assign, name: str) -> bool:
    """Whether a statement gives another name to the tensor of this one with its axes in another order."""
    value = statement.value
    if any(isinstance(t, ir.Name) and t.id == name for t in statement.targets):
        return False
    func = value.func if isinstance(value, ir.Call) else value
    if not isinstance(func, ir.Attribute) or func.attr not in _ORDERS:
        return False
    given = [func.value, *(value.args[:1] if isinstance(value, ir.Call) else ())]
    return any(isinstance(g, ir.Name) and g.id == name for g in given)


def is_of_a_step(m: Machine, statement: ir.Stmt, before: Sequence[Bound], bound: Bound, made: Tensor) -> bool:
    """Whether an arrow fits an operation in the middle of a line: ``x.sum(1).mean()  # (B, T) -> (B,)``."""
    if not before or fitting(bound.shape, m.sizes.shape(made.shape)) is not None:
        return False
    for event in reversed(m.trace.events):
        if event.index == made.event:
            continue
        if not statement.span[:2] <= (event.span.line, event.span.column) <= statement.span[2:]:
            return False
        given = next((o.shape for o in event.operands if o.shape is not None), None)
        after = event.shape
        if given is not None and after is not None and m.sizes.shape(after).rank == bound.shape.rank:
            return m.sizes.shape(given).rank == before[0].shape.rank
    return False


def names_a_one(shape: Shape, dims: Sequence[DimExpr]) -> bool:
    """Whether a name is said of an axis at an end of a shape that is seen to be 1: ``(B, T)`` of ``(..., 1)``."""
    ends = (*zip(shape.prefix, dims, strict=False), *zip(reversed(shape.suffix), reversed(dims), strict=False))
    return any(axis.dim.const == 1 and isinstance(dim, Named) and dim.equals is None for axis, dim in ends)


def leaves_ones_out(m: Machine, value: Tensor, stated: StatedShape, shape: Shape, name: str) -> bool:
    """Whether a statement leaves out only axes of size 1 that are there to broadcast, as is usual of masks.

    The same of a reduction that keeps the axis it reduced, and of a comma; of anything else it is a disagreement.
    """
    if stated.form in READ_BY_PROGRAMS or stated.rank is None or shape.rank is None:
        return False
    blanks = sum(d.name.count(" ") for d in stated.dims if isinstance(d, Named))
    if blanks and shape.rank == len(stated.dims) + blanks:
        return True  # `(B, T d)`: a comma is missing
    if any(isinstance(d, Number) for d in stated.dims):
        return False  # who writes one of them writes all
    ones = [axis for axis in shape.axes if axis.dim.const == 1]
    missing = shape.rank - len(stated.dims)
    if not 0 < missing <= len(ones):
        return False
    if missing <= sum(not axis.visible and not axis.ids.isdisjoint(m.commented) for axis in ones):
        return True  # a 1 that no more than another comment gives
    made = m.trace.events[value.event] if value.event >= 0 else None
    keeps = made.value("keepdim") if made is not None else None
    return value.kind == "bool" or "mask" in name.lower() or (isinstance(keeps, Bool) and keeps.value is True)


def is_imagined(axis: Axis, dim: DimExpr, *, parameter: bool) -> bool:
    """Whether nothing but a comment says a size: a sum or a number, or a width times what the code has no name for."""
    if isinstance(dim, Named | Rest):
        return False
    if parameter or not _is_of_names(dim):
        return True
    said = [sym.origin == "stated" for sym in axis.dim.syms]
    return any(said) and not all(said)


def _is_of_names(dim: DimExpr) -> bool:
    """Whether a stated size is that of named axes which lie in one: ``h*w``."""
    return isinstance(dim, Product) and all(isinstance(d, Named) for d in dim.factors)


def is_held(m: Machine, dim: DimExpr) -> bool:
    """Whether a name is that of a size which the object holds: to a helper, it may be said of what it is given."""
    receiver = m.frame.receiver
    if not isinstance(dim, Named) or not isinstance(receiver, Instance):
        return False
    return dim.key in receiver.attributes and dim.key not in m.frame.names and m.lookup(dim.key) is None


def stands_alone(m: Machine, value: Tensor) -> bool:
    """Whether what is stated of a value tells of nothing but itself.

    Nothing else is known of it; or it is a parameter, or such a value, with its axes in another order.
    """
    if not 0 <= value.event < len(m.trace.events):
        return True
    event = m.trace.events[value.event]
    if event.op == "stated" or not isinstance(event.result, Tensor):
        return True  # what is not followed shares no axes
    given = event.operands[0].value if event.operands else None
    if not isinstance(given, Tensor):
        return isinstance(given, Unknown) and event.short in _REORDERS
    if event.short == "unsqueeze" and given.event >= 0:
        return not isinstance(m.trace.events[given.event].result, Tensor)
    return event.short in _REORDERS and stands_alone(m, given)


_REORDERS = frozenset(
    (
        *(
            "transpose",
            "permute",
            "swapaxes",
            "t",
            "contiguous",
            "clone",
            "detach",
            "to",
            "float",
            "long",
            "cpu",
            "cuda",
        ),
        *("softmax", "log_softmax", "tanh", "sigmoid", "relu"),
    )
)


def returned_as(body: Sequence[ir.Stmt], name: str, index: int) -> int:
    """The place of a documented result in what is returned last: where its name stands, else its place in the list."""
    last = body[-1] if body else None
    value = last.value if isinstance(last, ir.Return) else None
    for place, item in enumerate(value.items if isinstance(value, ir.Sequence) else ()):
        while isinstance(item, ir.Call | ir.Attribute):
            item = item.func if isinstance(item, ir.Call) else item.value
        if isinstance(item, ir.Name) and item.id == name:
            return place
    return index


def sizes_named(node: ir.FunctionDef | ir.Lambda | None, name: str) -> bool:
    """Whether a function takes sizes apart into names of its own, this one among them: ``B, T, F = x.shape``.

    Then it is that size which its comments call so, and no attribute of this name.
    """
    return isinstance(node, ir.FunctionDef) and _sizes_named(node.body, name)


def _sizes_named(body: Sequence[ir.Stmt], name: str) -> bool:
    for statement in body:
        if isinstance(statement, ir.Assign) and statement.value is not None and asks_sizes(statement.value):
            for target in statement.targets:
                parts = target.items if isinstance(target, ir.Sequence) else [target]
                if any(isinstance(p, ir.Name) and p.id == name for p in parts):
                    return True
        if any(_sizes_named(block, name) for block in blocks(statement)):
            return True
    return False


def has_two_meanings(dim: Dim, name: str) -> bool:
    """Whether a name stands for a size that is made of another one of this name, which may be what is meant.

    ``self.hidden = encoder.hidden * encoder.directions``: a comment's ``hidden * directions`` speaks of the encoder's.
    """
    return dim.sym is None and any(sym.name == name for sym in dim.syms)
