"""Losses: what prediction and target must be, and what is left of them."""

from __future__ import annotations

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.value import Layer, Seq, Tensor, Value
from shapedoc.ops.broadcast import broadcast, broadcast_into
from shapedoc.ops.context import OpContext
from shapedoc.ops.pairs import check_weight, classified, compare_axes, paired, reduced, reduction_of, same_shape
from shapedoc.ops.registry import layer, op

__all__: list[str] = []

_LEGACY = "size_average: Value = None, reduce: Value = None, reduction: str = 'mean'"
_CLASSES = (
    "weight: Value = None, size_average: Value = None, ignore_index: int = -100, reduce: Value = None,"
    "reduction: str = 'mean'"
)


@layer("torch.nn.MSELoss", _LEGACY)
@layer("torch.nn.L1Loss", _LEGACY)
@layer("torch.nn.SmoothL1Loss", f"{_LEGACY}, beta: float = 1.0")
@layer("torch.nn.HuberLoss", "reduction: str = 'mean', delta: float = 1.0")
@layer("torch.nn.KLDivLoss", f"{_LEGACY}, log_target: bool = False")
@layer(
    "torch.nn.PoissonNLLLoss",
    "log_input: bool = True, full: bool = False, size_average: Value = None, eps: float = 1e-08,"
    "reduce: Value = None, reduction: str = 'mean'",
)
@layer("torch.nn.HingeEmbeddingLoss", f"margin: float = 1.0, {_LEGACY}")
def elementwise_loss_module(at: OpContext, layer: Layer, input: Tensor, target: Tensor) -> Value:
    """Compare element by element, after broadcasting.

    input (*), target (*) -> (), or their broadcast with reduction "none"
    Conflict: sizes that do not broadcast; one of the two is repeated to meet the other (raises nothing).
    Source: PyTorch documentation, torch.nn.MSELoss and its kin.
    """
    return reduced(at, paired(at, input, target), reduction_of(layer.config), input)


@op(
    "torch.nn.functional.mse_loss",
    "torch.nn.functional.l1_loss",
    "torch.nn.functional.smooth_l1_loss",
    "torch.nn.functional.huber_loss",
    "torch.nn.functional.kl_div",
    "torch.nn.functional.hinge_embedding_loss",
)
def elementwise_loss(at: OpContext, input: Tensor, target: Tensor, *options: Value, **settings: Value) -> Value:
    """Compare element by element, after broadcasting.

    input (*), target (*) -> (), or their broadcast with reduction "none"
    Conflict: sizes that do not broadcast; one of the two is repeated to meet the other (raises nothing).
    Source: PyTorch documentation, torch.nn.functional.mse_loss and its kin.
    """
    return reduced(at, paired(at, input, target), reduction_of(settings, options), input)


@op("torch.nn.functional.poisson_nll_loss")
def poisson_nll_loss(at: OpContext, input: Tensor, target: Tensor, **settings: Value) -> Value:
    """Compare counts element by element, after broadcasting.

    input (*), target (*) -> (), or their broadcast with reduction "none"
    Conflict: sizes that do not broadcast; one of the two is repeated to meet the other (raises nothing).
    Source: PyTorch documentation, torch.nn.functional.poisson_nll_loss.
    """
    return reduced(at, paired(at, input, target), reduction_of(settings), input)


@layer("torch.nn.SoftMarginLoss", _LEGACY)
def soft_margin_loss_module(at: OpContext, layer: Layer, input: Tensor, target: Tensor) -> Value:
    """Compare with signs, element by element.

    input (*), target (*) that broadcasts to input -> (), or as input with reduction "none"
    Conflict: a target that does not broadcast to the input.
    Source: PyTorch documentation, torch.nn.SoftMarginLoss.
    """
    return _soft_margin(at, input, target, reduction_of(layer.config))


@op("torch.nn.functional.soft_margin_loss")
def soft_margin_loss(at: OpContext, input: Tensor, target: Tensor, *options: Value, **settings: Value) -> Value:
    """Compare with signs, element by element.

    input (*), target (*) that broadcasts to input -> (), or as input with reduction "none"
    Conflict: a target that does not broadcast to the input.
    Source: PyTorch documentation, torch.nn.functional.soft_margin_loss.
    """
    return _soft_margin(at, input, target, reduction_of(settings, options))


def _soft_margin(at: OpContext, input: Tensor, target: Tensor, reduction: str | None) -> Tensor:
    broadcast_into(at, at.shape(input), at.shape(target), input, target, problem="mismatched-loss")
    return reduced(at, at.shape(input), reduction, input)


@layer("torch.nn.BCELoss", f"weight: Value = None, {_LEGACY}")
@layer("torch.nn.BCEWithLogitsLoss", f"weight: Value = None, {_LEGACY}, pos_weight: Value = None")
def binary_cross_entropy_module(at: OpContext, layer: Layer, input: Tensor, target: Tensor) -> Value:
    """Compare probabilities, or logits, with truth values.

    input (*), target (*), the same -> (), or as input with reduction "none"
    Conflict: another shape of the target; weights that do not broadcast.
    Source: PyTorch documentation, torch.nn.BCELoss, torch.nn.BCEWithLogitsLoss.
    """
    weights = [layer.config["weight"], layer.config.get("pos_weight")]
    return _binary(at, input, target, weights, reduction_of(layer.config))


@op("torch.nn.functional.binary_cross_entropy", "torch.nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy(
    at: OpContext,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *options: Value,
    **settings: Value,
) -> Value:
    """Compare probabilities, or logits, with truth values.

    input (*), target (*), the same -> (), or as input with reduction "none"
    Conflict: another shape of the target; weights that do not broadcast.
    Source: PyTorch documentation, torch.nn.functional.binary_cross_entropy.
    """
    weights = [weight, settings.get("pos_weight")]
    return _binary(at, input, target, weights, reduction_of(settings, options))


def _binary(
    at: OpContext,
    input: Tensor,
    target: Tensor,
    weights: list[Tensor | None] | list[Value | None],
    reduction: str | None,
) -> Tensor:
    shape = same_shape(at, input, target)
    for weight in weights:
        if isinstance(weight, Tensor):
            broadcast_into(at, shape, at.shape(weight), input, weight, problem="mismatched-loss")
    return reduced(at, shape, reduction, input)


@layer("torch.nn.CrossEntropyLoss", f"{_CLASSES}, label_smoothing: float = 0.0")
def cross_entropy_module(at: OpContext, layer: Layer, input: Tensor, target: Tensor) -> Value:
    """Compare scores of classes with an index, or with probabilities.

    input (N, C, *) or (C,), target (N, *) or (), or as input where it has floats
    -> (), or (N, *) with reduction "none"
    Conflict: another rank; N or * differs (the classes stand on axis 1); a weight for another number of classes.
    Source: PyTorch documentation, torch.nn.CrossEntropyLoss.
    """
    return _classes(at, input, target, layer.config["weight"], reduction_of(layer.config), probabilities=True)


@layer("torch.nn.NLLLoss", _CLASSES)
@layer("torch.nn.NLLLoss2d", _CLASSES)
def nll_loss_module(at: OpContext, layer: Layer, input: Tensor, target: Tensor) -> Value:
    """Pick the log-probability of a class.

    input (N, C, *) or (C,), target (N, *) or () -> (), or (N, *) with reduction "none"
    Conflict: another rank; N or * differs (the classes stand on axis 1); a weight for another number of classes.
    Source: PyTorch documentation, torch.nn.NLLLoss.
    """
    return _classes(at, input, target, layer.config["weight"], reduction_of(layer.config), probabilities=False)


@op("torch.nn.functional.cross_entropy")
def cross_entropy(
    at: OpContext,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *options: Value,
    **settings: Value,
) -> Value:
    """Compare scores of classes with an index, or with probabilities.

    input (N, C, *) or (C,), target (N, *) or (), or as input where it has floats
    -> (), or (N, *) with reduction "none"
    Conflict: another rank; N or * differs (the classes stand on axis 1); a weight for another number of classes.
    Source: PyTorch documentation, torch.nn.functional.cross_entropy.
    """
    return _classes(at, input, target, weight, reduction_of(settings, options), probabilities=True)


@op("torch.nn.functional.nll_loss")
def nll_loss(
    at: OpContext,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *options: Value,
    **settings: Value,
) -> Value:
    """Pick the log-probability of a class.

    input (N, C, *) or (C,), target (N, *) or () -> (), or (N, *) with reduction "none"
    Conflict: another rank; N or * differs (the classes stand on axis 1); a weight for another number of classes.
    Source: PyTorch documentation, torch.nn.functional.nll_loss.
    """
    return _classes(at, input, target, weight, reduction_of(settings, options), probabilities=False)


def _classes(
    at: OpContext, input: Tensor, target: Tensor, weight: Value | None, reduction: str | None, *, probabilities: bool
) -> Tensor:
    shape = classified(at, input, target, probabilities=probabilities)
    check_weight(at, input, weight if isinstance(weight, Tensor) else None)
    return reduced(at, shape, reduction, input)


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
