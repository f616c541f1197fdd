"""The attention weights of a model that runs: every softmax is met, told apart from other softmaxes, and replaced.

A softmax is taken for attention where what it made, or a view of it, is contracted with something along the axis that
it normalised: a matrix product, an einsum, a product with more axes and a sum. What a softmax hands to a loss or
returns as a prediction is not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

__all__ = ["Place", "Softmax", "recording", "replacing"]

Place: TypeAlias = Callable[..., Any] | None  # a module, a function, or everywhere
_SOFTMAX = (torch.softmax, Tensor.softmax, F.softmax, torch.special.softmax)
_VIEWS = {
    *(getattr(Tensor, name) for name in ("view", "reshape", "unsqueeze", "squeeze", "transpose", "permute", "expand")),
    *(getattr(Tensor, name) for name in ("t", "contiguous", "to", "type_as", "float", "half", "flatten", "unflatten")),
    *(getattr(Tensor, name) for name in ("__getitem__", "masked_fill", "repeat", "expand_as", "view_as", "clone")),
    *(getattr(torch, name) for name in ("unsqueeze", "squeeze", "transpose", "permute", "reshape", "t", "flatten")),
    *(torch.where, torch.masked_fill, F.dropout, torch.dropout, Tensor.T.__get__, Tensor.mT.__get__),
}
_PRODUCTS = {
    *(getattr(torch, name) for name in ("matmul", "bmm", "mm", "mv", "dot", "einsum", "baddbmm", "tensordot")),
    *(getattr(Tensor, name) for name in ("matmul", "bmm", "mm", "mv", "dot", "__matmul__", "__rmatmul__")),
}
_TIMES = {torch.mul, torch.multiply, Tensor.mul, Tensor.multiply, Tensor.__mul__, Tensor.__rmul__}


@dataclass(slots=True)
class Softmax:
    """One call: `weights` is what it made, detached; `axis` the one that it normalised, counted from the end."""

    weights: Tensor
    axis: int
    contracted: bool = False  # whether what it made was contracted with something
    inside: bool = True  # whether the call stood in the place that was asked for


@contextmanager
def recording(place: Place = None) -> Iterator[list[Softmax]]:
    """Note every softmax, in the order of the calls."""
    met: list[Softmax] = []
    with _watching(place, met, lambda number, weights: weights):
        yield met


@contextmanager
def replacing(replacements: dict[int, Tensor]) -> Iterator[list[Softmax]]:
    """Give other weights than those of the softmaxes with these numbers.

    Raises ValueError where such a softmax now makes another shape: the model takes another path than before.
    """

    def other(number: int, weights: Tensor) -> Tensor:
        if number not in replacements:
            return weights
        wanted = replacements[number]
        if wanted.shape != weights.shape:
            raise ValueError(
                f"softmax {number + 1} made {tuple(wanted.shape)} before and makes {tuple(weights.shape)} now: "
                "the model does not take the same path twice"
            )
        return wanted.to(weights.dtype)

    met: list[Softmax] = []
    with _watching(None, met, other):
        yield met


@contextmanager
def _watching(place: Place, met: list[Softmax], other: Callable[[int, Tensor], Tensor]) -> Iterator[None]:
    inside = _Inside(place)
    mode = _Mode(met, inside, other)
    with inside.listening(), mode:
        yield


class _Inside:
    """Whether the code that runs now is called, directly or not, by a module's forward or by a function."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.depth = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        if not isinstance(self.place, torch.nn.Module):
            yield
            return
        handles = (
            self.place.register_forward_pre_hook(lambda module, given: self._move(1)),
            self.place.register_forward_hook(lambda module, given, answer: self._move(-1), always_call=True),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _move(self, by: int) -> None:
        self.depth += by

    def __bool__(self) -> bool:
        if self.place is None:
            return True
        if isinstance(self.place, torch.nn.Module):
            return self.depth > 0
        code = getattr(self.place, "__code__", None)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        return frame is not None


class _Mode(TorchFunctionMode):
    """Sees every call of torch; follows what a softmax made through views into a product."""

    def __init__(self, met: list[Softmax], inside: _Inside, other: Callable[[int, Tensor], Tensor]) -> None:
        super().__init__()
        self.met = met
        self.inside = inside
        self.other = other
        # The tensors are kept, so that no other tensor can get the same id.
        self.made: dict[int, tuple[Tensor, int]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _SOFTMAX:
            return self.softmax(func(*args, **kwargs), _axis(args, kwargs))
        if func is F.scaled_dot_product_attention:
            return self.fused(*args, **kwargs)
        if func is F.multi_head_attention_forward:
            # What it calls is out of this mode's sight: its two ways of making weights are put in their place.
            with _swapped(softmax=self.inner_softmax, scaled_dot_product_attention=self.fused):
                return func(*args, **kwargs)
        answer = func(*args, **kwargs)
        self.follow(func, args, kwargs, answer)
        return answer

    def softmax(self, weights: Tensor, axis: int | None) -> Tensor:
        """Note one softmax, and hand out its weights or others."""
        number = len(self.met)
        if axis is None:
            axis = 0 if weights.dim() in (0, 1, 3) else 1
        counted = axis if axis < 0 else axis - weights.dim()
        self.met.append(Softmax(weights.detach(), counted, inside=bool(self.inside)))
        given = self.other(number, weights)
        self.made[id(given)] = (given, number)
        return given

    def inner_softmax(self, scores: Tensor, dim: int = -1, **options: Any) -> Tensor:
        """The softmax of `nn.MultiheadAttention`; what it makes is always contracted."""
        weights = self.softmax(torch.softmax(scores, dim), dim)
        self.met[-1].contracted = True
        return weights

    def fused(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """The fused kernel, written out: it shows its weights to nobody. Dropout is off, as in evaluation."""
        if enable_gqa:
            key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
            value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
        scores = query @ key.transpose(-2, -1) * (query.size(-1) ** -0.5 if scale is None else scale)
        if is_causal:
            attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, float("-inf"))
        elif attn_mask is not None:
            scores = scores + attn_mask
        return self.inner_softmax(scores) @ value

    def follow(self, func: Any, args: Any, kwargs: Any, answer: Any) -> None:
        """Hand a softmax's number on to views of it; note where one is contracted."""
        for tensor in _tensors((args, tuple(kwargs.values()))):
            if id(tensor) not in self.made:
                continue
            number = self.made[id(tensor)][1]
            if func in _VIEWS and isinstance(answer, Tensor):
                self.made[id(answer)] = (answer, number)
            elif func in _PRODUCTS:
                self.met[number].contracted = True
            elif func in _TIMES and isinstance(answer, Tensor):
                if answer.numel() > tensor.numel():
                    self.met[number].contracted = True
                else:
                    self.made[id(answer)] = (answer, number)


def _axis(args: Any, kwargs: Any) -> int | None:
    axis = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else None))
    return None if axis is None else int(axis)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _tensors(part)


@contextmanager
def _swapped(**others: Callable[..., Any]) -> Iterator[None]:
    kept = {name: getattr(F, name) for name in others}
    try:
        for name, other in others.items():
            setattr(F, name, other)
        yield
    finally:
        for name, own in kept.items():
            setattr(F, name, own)
