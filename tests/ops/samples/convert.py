"""Calls that convert elements, or overwrite them."""

from __future__ import annotations

from tests.ops.drawing import Call, D, Draw, Sample, T

__all__ = ["SAMPLES"]


def overwrite(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    stem = draw.name.rsplit(".", 1)[-1]
    return Call((T(shape), *({"fill_": (1.0,), "copy_": (T(shape),)}.get(stem, ()))))


def identity(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 4)),))


def convert(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 4), draw.sampled(["float", "int", "bool"])),))


def to(draw: Draw) -> Call:
    tensor = T(draw.shape(0, 3), draw.sampled(["float", "int"]))
    dtype = D(draw.sampled(["float64", "int64", "bool_" if "numpy" in draw.name else "bool"]))
    stem = draw.name.rsplit(".", 1)[-1]
    if stem == "type_as":
        return Call((tensor, T([2], draw.sampled(["float", "int"]))))
    if stem == "to" and draw.maybe():
        return Call((tensor, draw.sampled(["cpu", T([1], "int")])))
    return Call((tensor, dtype))


def part(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 4), "complex"),))


SAMPLES: dict[str, Sample] = {
    "torch.Tensor.grad": identity,
    "torch.imag": part,
    "torch.Tensor.fill_": overwrite,
    "torch.Tensor.detach": identity,
    "torch.Tensor.float": convert,
    "torch.Tensor.int": convert,
    "torch.Tensor.bool": convert,
    "torch.Tensor.byte": convert,
    "torch.Tensor.to": to,
}
