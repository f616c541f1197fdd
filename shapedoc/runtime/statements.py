"""What the author states of shapes, told to a recorder: names for axes that nobody named yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import Tensor
from shapedoc.runtime.activations import Activation
from shapedoc.runtime.shadows import is_array
from shapedoc.source import ir
from shapedoc.source.contracts import Bound, DimExpr, Named, Number, Rest, StatedShape, to_dim

if TYPE_CHECKING:
    from shapedoc.runtime.recorder import RunRecorder

__all__ = ["apply_parameters", "apply_result", "name_axes"]


def apply_parameters(recorder: RunRecorder, activation: Activation, definition: ir.FunctionDef) -> None:
    """Name the axes of a call's arguments by what is stated of its parameters."""
    stated = activation.file.contracts.params(definition)
    for name, shapes in stated.items():
        value = activation.frame.f_locals.get(name)
        if shapes and shapes[0].sure and shapes[0].index is None and is_array(value):
            _apply(recorder, activation, recorder.shadows.of(value, name), shapes[0], distinct=True)


def apply_result(recorder: RunRecorder, activation: Activation, statement: ir.Assign, value: Tensor) -> None:
    """Name the axes of what a statement has made by the comment on its line."""
    bounds: list[Bound] = activation.file.contracts.after(statement)
    for bound in bounds:
        if bound.shape.where == "after" and bound.shape.sure and bound.index is None and bound.shape.index is None:
            _apply(recorder, activation, value, bound.shape, distinct=False)


def _apply(
    recorder: RunRecorder, activation: Activation, value: Tensor, stated: StatedShape, *, distinct: bool
) -> None:
    axes = recorder.sizes.shape(value.shape).axes
    dims = _fitting(stated, len(axes))
    if dims is None:
        return
    if distinct:
        # An argument: a batch that is one example in this call is another in the next.
        axes = tuple(
            _opened(recorder, activation, a, d, first=i == 0) for i, (a, d) in enumerate(zip(axes, dims, strict=True))
        )
        value.shape = Shape(axes)
    name_axes(recorder, activation, axes, dims, distinct=distinct)


# A step of one token or one layer is often meant; of one example hardly ever.
_BATCH = frozenset(("B", "b", "N", "n", "bs", "bsz", "batch", "batch_size", "Batch"))


def _opened(recorder: RunRecorder, activation: Activation, axis: Axis, stated: DimExpr, *, first: bool) -> Axis:
    if axis.dim.const != 1 or axis.visible:
        return axis
    if isinstance(stated, Number):
        return Axis(axis.dim, axis.ids, True, axis.factors)
    if not first or not isinstance(stated, Named) or stated.broadcasts or stated.key not in _BATCH:
        return axis
    known = activation.names.get(stated.key)
    if known is None:
        known = activation.names[stated.key] = recorder.shadows.one(stated.key, activation.function)
    return axis.sized(known)


def _fitting(stated: StatedShape, rank: int) -> tuple[DimExpr, ...] | None:
    for dims in (stated.dims, *stated.alternatives):
        rest = [i for i, d in enumerate(dims) if isinstance(d, Rest)]
        if not rest and len(dims) == rank:
            return dims
        if len(rest) == 1 and len(dims) - 1 <= rank:
            return (*dims[: rest[0]], *(Rest(),) * (rank - len(dims) + 1), *dims[rest[0] + 1 :])
    return None


def name_axes(
    recorder: RunRecorder,
    activation: Activation,
    axes: Sequence[Axis],
    dims: Sequence[DimExpr],
    *,
    distinct: bool,
) -> None:
    """Name axes that nobody named; with `distinct`, the names are those of different quantities."""
    sizes, names = recorder.sizes, activation.names
    told: list[Dim] = []
    for axis, stated in zip(axes, dims, strict=True):
        if isinstance(stated, Rest):
            continue
        dim = sizes.resolve(axis.dim)
        if isinstance(stated, Named) and not stated.broadcasts:
            known = names.get(stated.key)
            if known is None:
                names[stated.key] = known = _named(recorder, dim, stated.key, activation.function)
            elif dim.value is not None and sizes.resolve(known).value == dim.value:
                sizes.meet(dim, known)
            told.append(known)
        else:
            size = to_dim(stated, lambda n: names.get(n.key), lambda a, b: sizes.floordiv(a, b))
            if size is not None and sizes.resolve(size).value == dim.value and size.const is None:
                sizes.meet(dim, size)
    if distinct:
        sizes.apart(*told)


def _named(recorder: RunRecorder, dim: Dim, name: str, owner: str) -> Dim:
    sym = dim.sym
    if sym is not None and not sym.name and sym.flexible:
        named = Dim.of(Sym(name, value=sym.value, flexible=True, owner=owner, origin="stated"))
        recorder.sizes.bind(sym, named)
        return named
    return dim
