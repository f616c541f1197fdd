"""Calls that draw random numbers."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T
from tests.ops.samples.create import like

__all__ = ["SAMPLES"]


def randint(draw: Draw) -> Call:
    shape = tuple(draw.shape(0, 3))
    return Call((0, 9, shape) if draw.maybe() else (9, shape))


def randint_like(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3), draw.sampled(["float", "int"])), 9))


def normal(draw: Draw) -> Call:
    if draw.maybe():
        return Call((0.0, 1.0, tuple(draw.shape(0, 3))))
    return Call((T(draw.shape(0, 3)), 1.0))


def randperm(draw: Draw) -> Call:
    return Call((draw.size(),))


def multinomial(draw: Draw) -> Call:
    shape = draw.shape(1, 3 if draw.wrong() else 2)
    return Call((T(shape), draw.number(1, int(shape[-1]))))


def bernoulli(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3)),))


SAMPLES: dict[str, Sample] = {
    "torch.rand_like": like,
    "torch.randint_like": randint_like,
    "torch.randint": randint,
    "torch.normal": normal,
    "torch.randperm": randperm,
    "torch.multinomial": multinomial,
    "torch.bernoulli": bernoulli,
}
