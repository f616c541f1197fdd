"""Linear maps, dropout and the other small library modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sizes
from shapedoc.core.value import Layer, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.meeting.settings import expect, flag, number, same_tensor, size, size_or_none, weight
from shapedoc.ops.registry import layer, op

__all__ = ["bilinear", "linear", "mark_rows"]


def mark_rows(at: OpContext, items: Sequence[Axis | Run]) -> None:
    """Remember that a learned map passed these axes through."""
    for item in items:
        at.sizes.mark(item, "row", at.line)


def _linear_parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    at = OpContext(sizes, {})
    out, into = size(at, layer, "out_features"), size_or_none(at, layer, "in_features")
    found = {"weight": weight(out, into if into is not None else sizes.fresh())}
    if flag(layer, "bias") is not False:
        found["bias"] = weight(out)
    return found


@layer(
    "torch.nn.Linear",
    "in_features: Dim, out_features: Dim, bias: bool = True, device: Value = None, dtype: Value = None",
    _linear_parameters,
)
def linear(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Map the last axis linearly.

    input (*, in_features) -> (*, out_features)
    Conflict: the last axis is not in_features; no axis.
    Source: PyTorch documentation, torch.nn.Linear.
    """
    rows, last = at.leading(input)
    if last is not None:
        last = expect(at, input, -1, size(at, layer, "in_features"), "in_features")
    return _mapped(at, input, rows, last, size(at, layer, "out_features"))


@layer(
    "torch.nn.LazyLinear",
    "out_features: Dim, bias: bool = True, device: Value = None, dtype: Value = None",
    _linear_parameters,
)
def lazy_linear(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Map the last axis linearly, whatever its size.

    input (*, d) -> (*, out_features)
    Source: PyTorch documentation, torch.nn.LazyLinear.
    """
    return _mapped(at, input, *at.leading(input), size(at, layer, "out_features"))


def _mapped(at: OpContext, input: Tensor, rows: Sequence[Axis | Run], last: Axis | None, out: Dim) -> Tensor:
    axis = at.axis(out)
    if last is not None:
        at.sizes.mark(last, "feature", at.line)
    at.sizes.mark(axis, "feature", at.line)
    mark_rows(at, rows)
    return at.tensor((*rows, axis), input, kind="float")


def _bilinear_parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    at = OpContext(sizes, {})
    out = size(at, layer, "out_features")
    found = {"weight": weight(out, size(at, layer, "in1_features"), size(at, layer, "in2_features"))}
    if flag(layer, "bias") is not False:
        found["bias"] = weight(out)
    return found


@layer(
    "torch.nn.Bilinear",
    "in1_features: Dim, in2_features: Dim, out_features: Dim, bias: bool = True, device: Value = None,"
    "dtype: Value = None",
    _bilinear_parameters,
)
def bilinear(at: OpContext, layer: Layer, input1: Tensor, input2: Tensor) -> Value:
    """Map two vectors bilinearly; the leading axes are the same, they do not broadcast.

    input1 (*, in1_features), input2 (*, in2_features) -> (*, out_features)
    Conflict: a last axis of another size; leading axes that differ.
    Source: PyTorch documentation, torch.nn.Bilinear.
    """
    at.suffix(input1, 1)
    at.suffix(input2, 1)
    expect(at, input1, -1, size(at, layer, "in1_features"), "in1_features")
    expect(at, input2, -1, size(at, layer, "in2_features"), "in2_features")
    return _bilinear_out(at, input1, input2, size(at, layer, "out_features"))


@op("torch.nn.functional.bilinear")
def functional_bilinear(
    at: OpContext, input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Value:
    """Map two vectors bilinearly.

    input1 (*, n), input2 (*, m), weight (k, n, m), bias (k,) -> (*, k)
    Conflict: a rank; n, m or k differ; leading axes that differ.
    Source: PyTorch documentation, torch.nn.functional.bilinear.
    """
    at.suffix(input1, 1)
    at.suffix(input2, 1)
    k, n, m = at.need_rank(weight, 3)
    expect(at, input1, -1, n.dim, "weight", kind="mismatched-product")
    expect(at, input2, -1, m.dim, "weight", kind="mismatched-product")
    if bias is not None:
        at.need_rank(bias, 1)
        expect(at, bias, 0, k.dim, "weight", kind="elementwise")
    return _bilinear_out(at, input1, input2, k.dim)


def _bilinear_out(at: OpContext, input1: Tensor, input2: Tensor, out: Dim) -> Tensor:
    first, second = at.shape(input1), at.shape(input2)
    rows = first.items[:-1]
    if first.rank is not None and second.rank is not None:
        if first.rank != second.rank:
            at.fail("wrong-rank", [input2, input1], wanted=str(first.rank), got=str(second.rank))
        for i, (a, b) in enumerate(zip(first.axes[:-1], second.axes[:-1], strict=True)):
            sameness = at.meet(a, b)
            if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
                at.conflict(
                    "mismatched-batch",
                    [input1, input2],
                    axes=(i, i),
                    dims=(a.dim, b.dim),
                    sameness=sameness,
                    loud=sameness.kind is Kind.NEVER,
                )
        rows = tuple(a.merged(b) for a, b in zip(first.axes[:-1], second.axes[:-1], strict=True))
    elif first.rank is None:
        rows = second.items[:-1]
    axis = at.axis(out)
    at.sizes.mark(axis, "feature", at.line)
    mark_rows(at, rows)
    return at.tensor((*rows, axis), input1, kind="float")


@layer("torch.nn.Identity", "*args: Value, **kwargs: Value")
def identity(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Give the input back.

    input (*) -> (*)
    Source: PyTorch documentation, torch.nn.Identity.
    """
    return same_tensor(at, input)


@layer("torch.nn.Dropout", "p: float = 0.5, inplace: bool = False")
@layer("torch.nn.AlphaDropout", "p: float = 0.5, inplace: bool = False")
@layer("torch.nn.FeatureAlphaDropout", "p: float = 0.5, inplace: bool = False")
@layer("torch.nn.Dropout2d", "p: float = 0.5, inplace: bool = False")
@layer("torch.nn.Dropout3d", "p: float = 0.5, inplace: bool = False")
def dropout(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Zero some elements, or some channels.

    input (*) -> (*)
    Source: PyTorch documentation, torch.nn.Dropout.
    """
    return same_tensor(at, input)


@layer("torch.nn.Dropout1d", "p: float = 0.5, inplace: bool = False")
def dropout1d(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Zero some channels of a sequence.

    input (N, C, L) or (C, L) -> the same
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.Dropout1d.
    """
    return _with_rank(at, input, 2, 3)


@op("torch.nn.functional.dropout1d")
def functional_dropout1d(
    at: OpContext, input: Tensor, p: Value | None = None, training: Value | None = None, inplace: Value | None = None
) -> Value:
    """Zero some channels of a sequence.

    input (N, C, L) or (C, L) -> the same
    Conflict: another rank.
    Source: PyTorch documentation, torch.nn.functional.dropout1d.
    """
    return _with_rank(at, input, 2, 3)


@op(
    "torch.nn.functional.dropout2d",
    "torch.nn.functional.dropout3d",
    "torch.nn.functional.alpha_dropout",
    "torch.nn.functional.feature_alpha_dropout",
)
def functional_dropout(
    at: OpContext, input: Tensor, p: Value | None = None, training: Value | None = None, inplace: Value | None = None
) -> Value:
    """Zero some channels or elements.

    input (*) -> (*)
    Source: PyTorch documentation, torch.nn.functional.dropout2d.
    """
    return same_tensor(at, input)


def _with_rank(at: OpContext, input: Tensor, *ranks: int) -> Tensor:
    shape = at.shape(input)
    if shape.run is None or len(shape.axes) > max(ranks):
        at.need_rank(input, *ranks)
    return same_tensor(at, input)


@layer("torch.nn.CosineSimilarity", "dim: int = 1, eps: float = 1e-08")
def cosine_similarity_module(at: OpContext, layer: Layer, x1: Tensor, x2: Tensor) -> Value:
    """Compare vectors along an axis, after broadcasting.

    x1 (*, d, *), x2 (*, d, *) -> (*, *)
    Conflict: sizes that do not broadcast; no such axis.
    Source: PyTorch documentation, torch.nn.CosineSimilarity.
    """
    dim = number(layer, "dim")
    if dim is None:
        at.lost("`dim` is not known")
    return _without(at, at.tensor(broadcast(at, x1, x2), x1, kind="float"), dim)


@op("torch.nn.functional.cosine_similarity", "torch.cosine_similarity")
def cosine_similarity(at: OpContext, x1: Tensor, x2: Tensor, dim: int = 1, eps: Value | None = None) -> Value:
    """Compare vectors along an axis, after broadcasting.

    x1 (*, d, *), x2 (*, d, *) -> (*, *)
    Conflict: sizes that do not broadcast; no such axis.
    Source: PyTorch documentation, torch.nn.functional.cosine_similarity.
    """
    return _without(at, at.tensor(broadcast(at, x1, x2), x1, kind="float"), dim)


@layer("torch.nn.PairwiseDistance", "p: float = 2.0, eps: float = 1e-06, keepdim: bool = False")
def pairwise_distance_module(at: OpContext, layer: Layer, x1: Tensor, x2: Tensor) -> Value:
    """Measure the distance of vectors along the last axis, after broadcasting.

    x1 (*, d), x2 (*, d) -> (*), or (*, 1) with keepdim
    Conflict: sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.PairwiseDistance.
    """
    keep = flag(layer, "keepdim")
    if keep is None:
        at.lost("`keepdim` is not known")
    return _distance(at, x1, x2, keep)


@op("torch.nn.functional.pairwise_distance", "torch.pairwise_distance")
def pairwise_distance(
    at: OpContext, x1: Tensor, x2: Tensor, p: Value | None = None, eps: Value | None = None, keepdim: bool = False
) -> Value:
    """Measure the distance of vectors along the last axis, after broadcasting.

    x1 (*, d), x2 (*, d) -> (*), or (*, 1) with keepdim
    Conflict: sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.functional.pairwise_distance.
    """
    return _distance(at, x1, x2, keepdim)


def _distance(at: OpContext, x1: Tensor, x2: Tensor, keep: bool) -> Tensor:
    joined = at.tensor(broadcast(at, x1, x2), x1, kind="float")
    at.suffix(joined, 1)
    kept = at.shape(joined).items[:-1]
    return at.tensor((*kept, Axis.one()) if keep else kept, joined)


def _without(at: OpContext, tensor: Tensor, dim: int) -> Tensor:
    position = at.locate(tensor, dim)
    items = at.shape(tensor).items
    return at.tensor(Shape((*items[:position], *items[position + 1 :])), tensor)
