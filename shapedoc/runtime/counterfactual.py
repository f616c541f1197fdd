"""`shapedoc.counterfactual`: how far the prediction moves when the attention weights are others.

A heat map shows where a model read, not what made it decide. Jain and Wallace (2019, "Attention is not Explanation")
ask the question that a heat map cannot answer: had the weights been others, would the prediction have been another?
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import Tensor

    from shapedoc.runtime.softmaxes import Softmax

__all__ = ["CHANGES", "Counterfactual", "CounterfactualError", "Movement", "counterfactual"]

CHANGES = ("permuted", "uniform", "adversarial")
Kind = Literal["logits", "probabilities", "numbers"]
_HARDLY = 0.05  # a total variation distance that changes no reader's mind; Jain and Wallace allow 0.01 to 0.05
_ALIKE = 0.02  # a divergence that rows have which are nearly uniform
_FAR = 0.1  # a Jensen-Shannon divergence that a reader of a heat map sees; 0.69 at most


class CounterfactualError(ValueError):
    """The weights of this model cannot be found or replaced; the message says why and what to name."""


@dataclass(frozen=True, slots=True)
class Movement:
    """One change of the weights, and how far the prediction moved."""

    change: str
    prediction: Tensor  # one distance for every prediction: the prediction's shape without its last axis
    weights: tuple[Tensor, ...]  # Jensen-Shannon divergence of every row of weights, in nats, one tensor a softmax
    answers_changed: float | None  # share of predictions whose likeliest class is another; None for numbers

    @property
    def mean(self) -> float:
        """Mean distance of the predictions."""
        return float(self.prediction.mean())

    @property
    def weights_mean(self) -> float:
        """Mean divergence of the rows of weights, in nats; log 2 = 0.69 at most."""
        total = sum(float(part.sum()) for part in self.weights)
        rows = sum(int(part.numel()) for part in self.weights)
        return total / max(1, rows)


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What other weights do to a model's prediction."""

    model: str
    kind: Kind
    softmaxes: int  # calls that were replaced
    keys: tuple[int, ...]  # sizes of the axes that they normalise
    shape: tuple[int, ...]  # of the prediction
    tolerance: float
    movements: dict[str, Movement] = field(default_factory=dict)

    def __getitem__(self, change: str) -> Movement:
        return self.movements[change]

    @property
    def verdict(self) -> str:
        """One sentence: whether these weights may be shown as a reason for the prediction."""
        permuted, adversarial = self.movements.get("permuted"), self.movements.get("adversarial")
        if permuted is not None and permuted.weights_mean < _ALIKE:
            return "the weights of a row are all nearly the same: there is nothing to permute, and nothing to explain"
        if permuted is not None and permuted.mean <= _HARDLY:
            return "permuted weights give nearly the same predictions: these weights explain nothing"
        if adversarial is not None and adversarial.weights_mean >= _FAR:
            return "weights that look quite different give nearly the same predictions: this picture is one of many"
        if permuted is None or adversarial is None:
            return "permute them and search for adversarial ones before showing them as evidence"
        return "the predictions depend on where these weights are; the search found no others that do as well"

    def __repr__(self) -> str:
        keys = " or ".join(str(size) for size in self.keys)
        calls = "one softmax" if self.softmaxes == 1 else f"{self.softmaxes} softmaxes"
        distance = "relative change" if self.kind == "numbers" else "total variation"
        lines = [
            f"{self.model}: {calls} over {keys} keys, predictions {self.shape}",
            f"  {'weights':<12} {'moved (JS, nats)':>17} {f'prediction ({distance})':>29} {'other answers':>14}",
        ]
        for name, movement in self.movements.items():
            answers = "" if movement.answers_changed is None else f"{100 * movement.answers_changed:.0f} %"
            spread = f"{movement.mean:.3f}, at most {float(movement.prediction.max()):.3f}"
            lines.append(f"  {name:<12} {movement.weights_mean:>17.3f} {spread:>29} {answers:>14}")
        return "\n".join([*lines, f"  {self.verdict}"])


def counterfactual(
    model: Callable[..., Any],
    batch: Any,
    *,
    at: str | Callable[..., Any] | None = None,
    output: Callable[[Any], Any] | None = None,
    kind: Kind | None = None,
    counted: Any = None,
    changes: Collection[str] = CHANGES,
    permutations: int = 5,
    tolerance: float = _HARDLY,
    steps: int = 100,
    seed: int = 0,
) -> Counterfactual:
    """Replace a model's attention weights, and measure how far its predictions move.

    model: an ``nn.Module`` or a function of torch; modules run in evaluation mode. batch: its arguments, a tuple, a
    dict of keyword arguments, or a single one. at: where the weights are made, as the name of a submodule, a module
    or a function; by default every softmax whose result is contracted with something. output: picks the prediction
    out of what the model returns; by default the first float tensor. kind: what the prediction's last axis holds;
    by default probabilities where it sums to one, numbers where it has one element, else logits. counted: a boolean
    tensor of the prediction's other axes, False where a prediction is padding. permutations: how many are averaged.
    tolerance: how far adversarial weights may move the prediction, on average. steps: of the search for them.

    Weights of exactly zero, as a mask makes them, stay zero. Distances are total variation between the predicted
    distributions, and for numbers the change relative to their size.

    Raises CounterfactualError where no attention softmax is met, `at` names nothing, or the model takes another path
    the second time.
    """
    import torch

    from shapedoc.runtime.other_weights import adversarial, permuted, uniform

    unknown = [change for change in changes if change not in CHANGES]
    if unknown:
        raise CounterfactualError(f"no change is called {unknown[0]!r}; there are {', '.join(CHANGES)}")
    subject = _Subject(model, batch, output, kind, counted)
    with ExitStack() as stack:
        for setting in _still(torch, model):
            stack.enter_context(setting)
        found, prediction = subject.look(at)
        sizes = {tuple(one.weights.shape)[one.axis] for one in found.values()}
        outcome = Counterfactual(
            model=getattr(model, "__name__", None) or type(model).__name__,
            kind=subject.kind or "logits",
            softmaxes=len(found),
            keys=tuple(sorted(sizes)),
            shape=tuple(prediction.shape),
            tolerance=tolerance,
        )
        generator = torch.Generator().manual_seed(seed)
        for change in changes:
            if change == "adversarial":
                others = [adversarial(found, partial(subject.moved_by, prediction), generator, tolerance, steps)]
            elif change == "permuted":
                others = [{n: permuted(one, generator) for n, one in found.items()} for _ in range(permutations)]
            else:
                others = [{n: uniform(one) for n, one in found.items()}]
            outcome.movements[change] = subject.movement(change, found, prediction, others)
    return outcome


class _Subject:
    """The model with its batch, run as often as is wanted."""

    def __init__(
        self,
        model: Callable[..., Any],
        batch: Any,
        output: Callable[[Any], Any] | None,
        kind: Kind | None,
        counted: Any,
    ) -> None:
        self.model = model
        self.batch = batch
        self.output = output or _first_floats
        self.kind = kind
        self.counted = counted

    def predict(self) -> Tensor:
        """The prediction as the model makes it."""
        if isinstance(self.batch, Mapping):
            returned = self.model(**self.batch)
        elif isinstance(self.batch, tuple | list):
            returned = self.model(*self.batch)
        else:
            returned = self.model(self.batch)
        prediction: Tensor = self.output(returned)
        return prediction

    def look(self, at: str | Callable[..., Any] | None) -> tuple[dict[int, Softmax], Tensor]:
        """The softmaxes to replace, by number, and the prediction with their own weights."""
        import torch

        from shapedoc.runtime.softmaxes import recording

        with torch.no_grad(), recording(_place(self.model, at)) as met:
            prediction = self.predict().detach()
        if self.kind is None:
            self.kind = _kind_of(prediction)
        chosen = _attention(met, at)
        if not chosen:
            raise CounterfactualError(_nothing(met, at))
        return chosen, prediction

    def again(self, replacements: dict[int, Tensor]) -> Tensor:
        """The prediction with other weights."""
        from shapedoc.runtime.softmaxes import replacing

        try:
            with replacing(replacements):
                return self.predict()
        except ValueError as error:
            if "the same path twice" not in str(error):
                raise
            raise CounterfactualError(str(error)) from error

    def distances(self, own: Tensor, other: Tensor) -> Tensor:
        """How far apart two predictions are, one number each."""
        if self.kind == "numbers":
            return (own - other).norm(dim=-1) / own.norm(dim=-1).clamp_min(1e-12)
        if self.kind == "logits":
            own, other = own.softmax(-1), other.softmax(-1)
        return (own - other).abs().sum(-1) / 2

    def moved_by(self, own: Tensor, weights: dict[int, Tensor]) -> Tensor:
        """How far every prediction that counts is moved by other weights; differentiable."""
        return self.chosen(self.distances(own, self.again(weights)))

    def chosen(self, values: Tensor) -> Tensor:
        """The predictions that count."""
        return values if self.counted is None else values[self.counted]

    def movement(
        self, change: str, found: dict[int, Softmax], own: Tensor, others: list[dict[int, Tensor]]
    ) -> Movement:
        """The mean over some replacements."""
        import torch

        from shapedoc.runtime.other_weights import divergence

        moved, answers = [], []
        divergences: list[list[Tensor]] = [[] for _ in found]
        with torch.no_grad():
            for weights in others:
                other = self.again(weights)
                moved.append(self.distances(own, other))
                answers.append(float(self.chosen(own.argmax(-1) != other.argmax(-1)).float().mean()))
                for place, (number, one) in zip(divergences, found.items(), strict=True):
                    place.append(divergence(one.weights, weights[number], one.axis))
            return Movement(
                change=change,
                prediction=self.chosen(torch.stack(moved).mean(0)),
                weights=tuple(torch.stack(place).mean(0) for place in divergences),
                answers_changed=None if self.kind == "numbers" else sum(answers) / len(answers),
            )


def _still(torch: Any, model: Any) -> list[Any]:
    """Settings under which a model does the same twice: evaluation mode, no cuDNN (its GRU has no gradient there)."""
    return [torch.backends.cudnn.flags(enabled=False), _Evaluating(torch, model)]


class _Evaluating:
    """Every module in evaluation mode, and back in the mode that it had."""

    def __init__(self, torch: Any, model: Any) -> None:
        owner = model if isinstance(model, torch.nn.Module) else getattr(model, "__self__", None)
        self.modules = list(owner.modules()) if isinstance(owner, torch.nn.Module) else []

    def __enter__(self) -> None:
        self.modes = [module.training for module in self.modules]
        for module in self.modules:
            module.training = False

    def __exit__(self, *problem: object) -> None:
        for module, mode in zip(self.modules, self.modes, strict=True):
            module.training = mode


def _place(model: Any, at: str | Callable[..., Any] | None) -> Callable[..., Any] | None:
    if not isinstance(at, str):
        return at
    names = [name for name, _ in model.named_modules() if name] if hasattr(model, "named_modules") else []
    if at not in names:
        known = f"; there are {', '.join(names)}" if names else ""
        raise CounterfactualError(f"the model has no submodule {at!r}{known}")
    place: Callable[..., Any] = model.get_submodule(at)
    return place


def _attention(met: list[Softmax], at: object) -> dict[int, Softmax]:
    """What is contracted; in a place that was named also what is not, if nothing is."""
    inside = {number: one for number, one in enumerate(met) if one.inside}
    contracted = {number: one for number, one in inside.items() if one.contracted}
    return contracted or (inside if at is not None else {})


def _nothing(met: list[Softmax], at: object) -> str:
    if not met:
        return (
            "no softmax was met while the model ran: weights made by hand from `exp` and a division, in NumPy or in "
            "compiled code, cannot be replaced; make them with `torch.softmax`"
        )
    shapes = ", ".join(sorted({str(tuple(one.weights.shape)) for one in met}))
    if at is not None:
        return f"no softmax was met inside {at!r}; elsewhere they made {shapes}"
    return (
        f"softmaxes were met, making {shapes}, but nothing is contracted with what they made: "
        "name the module or the function that makes the weights, at=…"
    )


def _first_floats(returned: Any) -> Tensor:
    """The first float tensor in what a model returned."""
    import torch

    pending = [returned]
    while pending:
        value = pending.pop(0)
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value
        if isinstance(value, Mapping):
            pending = [*value.values(), *pending]
        elif isinstance(value, tuple | list):
            pending = [*value, *pending]
        elif hasattr(value, "logits"):
            pending = [value.logits, *pending]
    raise CounterfactualError(
        f"the model returned a {type(returned).__name__} without a float tensor; pick the prediction with output=…"
    )


def _kind_of(prediction: Tensor) -> Kind:
    import torch

    if prediction.dim() == 0 or prediction.size(-1) == 1:
        return "numbers"
    total = prediction.sum(-1)
    if bool((prediction >= 0).all()) and torch.allclose(total, torch.ones_like(total), atol=1e-3):
        return "probabilities"
    return "logits"
