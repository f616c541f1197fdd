"""Losses of vectors, of orders and of alignments."""

from __future__ import annotations

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import Layer, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.meeting.pairs import compare_axes, reduced, reduction_of
from shapedoc.ops.registry import layer, op

__all__: list[str] = []

_LEGACY = "size_average: Value = None, reduce: Value = None, reduction: str = 'mean'"


@layer("torch.nn.CosineEmbeddingLoss", f"margin: float = 0.0, {_LEGACY}")
def cosine_embedding_loss_module(at: OpContext, layer: Layer, input1: Tensor, input2: Tensor, target: Tensor) -> Value:
    """Compare the angle of two vectors with a sign.

    input1, input2 (N, d) and target (N,), or (d,) and () -> (), or as target with reduction "none"
    Conflict: another rank; sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.CosineEmbeddingLoss.
    """
    return _cosine(at, input1, input2, target, reduction_of(layer.config))


@op("torch.nn.functional.cosine_embedding_loss")
def cosine_embedding_loss(
    at: OpContext, input1: Tensor, input2: Tensor, target: Tensor, *options: Value, **settings: Value
) -> Value:
    """Compare the angle of two vectors with a sign.

    input1, input2 (N, d) and target (N,), or (d,) and () -> (), or as target with reduction "none"
    Conflict: another rank; sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.functional.cosine_embedding_loss.
    """
    return _cosine(at, input1, input2, target, reduction_of(settings, options))


def _cosine(at: OpContext, input1: Tensor, input2: Tensor, target: Tensor, reduction: str | None) -> Tensor:
    signs = at.need_rank(target, 0, 1)
    for vectors in (input1, input2):
        if at.shape(vectors).rank != len(signs) + 1:
            at.need_rank(vectors, len(signs) + 1)
    pairs = broadcast(at, input1, input2, problem="mismatched-loss")
    angle = at.tensor(Shape(pairs.items[:-1]), input1)
    return reduced(at, broadcast(at, angle, target, problem="mismatched-loss"), reduction, input1)


@layer(
    "torch.nn.TripletMarginLoss",
    f"margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: bool = False, {_LEGACY}",
)
def triplet_margin_loss_module(
    at: OpContext, layer: Layer, anchor: Tensor, positive: Tensor, negative: Tensor
) -> Value:
    """Compare two distances along the last axis.

    anchor, positive, negative (*, d) -> (), or (*) with reduction "none"
    Conflict: ranks that differ; sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.TripletMarginLoss.
    """
    return _triplet(at, anchor, positive, negative, reduction_of(layer.config))


@op("torch.nn.functional.triplet_margin_loss")
def triplet_margin_loss(
    at: OpContext, anchor: Tensor, positive: Tensor, negative: Tensor, *options: Value, **settings: Value
) -> Value:
    """Compare two distances along the last axis.

    anchor, positive, negative (*, d) -> (), or (*) with reduction "none"
    Conflict: ranks that differ; sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.functional.triplet_margin_loss.
    """
    return _triplet(at, anchor, positive, negative, reduction_of(settings))


def _triplet(at: OpContext, anchor: Tensor, positive: Tensor, negative: Tensor, reduction: str | None) -> Tensor:
    rank = at.shape(anchor).rank
    if rank is None:
        at.lost("rank unknown")
    for other in (positive, negative):
        at.need_rank(other, rank)
    at.suffix(anchor, 1)
    near = broadcast(at, anchor, positive, problem="mismatched-loss")
    far = broadcast(at, anchor, negative, problem="mismatched-loss")
    distances = (at.tensor(near.items[:-1], anchor), at.tensor(far.items[:-1], anchor))
    return reduced(at, broadcast(at, *distances, problem="mismatched-loss"), reduction, anchor)


@layer("torch.nn.MarginRankingLoss", f"margin: float = 0.0, {_LEGACY}")
def margin_ranking_loss_module(at: OpContext, layer: Layer, input1: Tensor, input2: Tensor, target: Tensor) -> Value:
    """Compare an order with a sign.

    input1, input2, target, of one rank -> (), or their broadcast with reduction "none"
    Conflict: ranks that differ; sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.MarginRankingLoss.
    """
    return _ranking(at, input1, input2, target, reduction_of(layer.config))


@op("torch.nn.functional.margin_ranking_loss")
def margin_ranking_loss(
    at: OpContext, input1: Tensor, input2: Tensor, target: Tensor, *options: Value, **settings: Value
) -> Value:
    """Compare an order with a sign.

    input1, input2, target, of one rank -> (), or their broadcast with reduction "none"
    Conflict: ranks that differ; sizes that do not broadcast.
    Source: PyTorch documentation, torch.nn.functional.margin_ranking_loss.
    """
    return _ranking(at, input1, input2, target, reduction_of(settings, options))


def _ranking(at: OpContext, input1: Tensor, input2: Tensor, target: Tensor, reduction: str | None) -> Tensor:
    rank = at.shape(input1).rank
    if rank is not None:
        for other in (input2, target):
            at.need_rank(other, rank)
    return reduced(at, broadcast(at, input1, input2, target, problem="mismatched-loss"), reduction, input1)


@layer("torch.nn.CTCLoss", "blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False")
def ctc_loss_module(
    at: OpContext, layer: Layer, log_probs: Tensor, targets: Tensor, input_lengths: Value, target_lengths: Value
) -> Value:
    """Align labels with a longer sequence.

    log_probs (T, N, C), targets (N, S) or (all labels,), lengths (N,) -> (), or (N,) with reduction "none";
    log_probs (T, C), lengths () -> ()
    Conflict: another rank; another number of lengths than N.
    Source: PyTorch documentation, torch.nn.CTCLoss.
    """
    return _aligned(at, log_probs, targets, (input_lengths, target_lengths), reduction_of(layer.config))


@op("torch.nn.functional.ctc_loss")
def ctc_loss(
    at: OpContext,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Value,
    target_lengths: Value,
    *options: Value,
    **settings: Value,
) -> Value:
    """Align labels with a longer sequence.

    log_probs (T, N, C), targets (N, S) or (all labels,), lengths (N,) -> (), or (N,) with reduction "none";
    log_probs (T, C), lengths () -> ()
    Conflict: another rank; another number of lengths than N.
    Source: PyTorch documentation, torch.nn.functional.ctc_loss.
    """
    return _aligned(at, log_probs, targets, (input_lengths, target_lengths), reduction_of(settings, options))


def _aligned(
    at: OpContext, log_probs: Tensor, targets: Tensor, lengths: tuple[Value, Value], reduction: str | None
) -> Tensor:
    axes = at.need_rank(log_probs, 2, 3)
    batch: tuple[Axis, ...] = axes[1:2] if len(axes) == 3 else ()
    for given in lengths:
        if isinstance(given, Seq) and given.rest is None:
            given = Tensor(Shape.of(len(given.items)), kind="int")
        if isinstance(given, Tensor) and at.shape(given).rank == 1 and batch:
            compare_axes(at, log_probs, given, [(1, 0)], class_axis="2")
    if batch and at.shape(targets).rank == 2:
        compare_axes(at, log_probs, targets, [(1, 0)], class_axis="2")
    return reduced(at, Shape(batch), reduction, log_probs)
