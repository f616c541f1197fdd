"""Losses: what prediction and target must be, and what is left of them."""

from __future__ import annotations

from shapedoc.core.value import Layer, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.broadcast import broadcast_into
from shapedoc.ops.meeting.pairs import check_weight, classified, paired, reduced, reduction_of, same_shape
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
