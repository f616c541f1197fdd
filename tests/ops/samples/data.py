"""Calls that make tensors of data."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T
from tests.ops.samples.create import dtype

__all__ = ["SAMPLES"]


def nested(draw: Draw, depth: int, sizes: list[int]) -> object:
    """Lists of lists of numbers."""
    if depth == len(sizes):
        return draw.number(0, 9)
    return [nested(draw, depth + 1, sizes) for _ in range(int(sizes[depth]))]


def data(draw: Draw) -> object:
    sizes = [draw.number(1, 3) for _ in range(draw.number(0, 3))]
    made = nested(draw, 0, sizes)
    if draw.maybe() and len(sizes) == 1:
        made = [0.5, *[1] * (sizes[0] - 1)]
    return made


def tensor(draw: Draw) -> Call:
    if draw.name == "torch.from_numpy":
        return Call((T(draw.shape(0, 3), array=True),))
    if draw.wrong():
        return Call(([[1, 2], 3],))
    return Call((data(draw),), dtype(draw))


def array(draw: Draw) -> Call:
    if draw.wrong():
        return Call(([[1, 2], 3],))
    if draw.maybe():
        shape = draw.shape(0, 2)
        return Call(([T(shape), T(shape)],))
    return Call((data(draw),), dtype(draw))


def new_tensor(draw: Draw) -> Call:
    return Call((T([2], "float"), data(draw)))


def to_numpy(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3), draw.sampled(["float", "int"])),))


def constructed(draw: Draw) -> Call:
    if draw.maybe():
        return Call(draw.shape(1, 3))
    return Call(([[0, 1, 2], [3, 4, 5]][: draw.number(1, 2)],))


def parameter(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3)),))


def complex_(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    return Call((T(shape), T(draw.spoilt([*shape, 2])[: len(shape)] if draw.wrong() else shape)))


def as_complex(draw: Draw) -> Call:
    return Call((T([*draw.shape(0, 3), 3 if draw.wrong() else 2]),))


def as_real(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3), "complex"),))


def new(draw: Draw) -> Call:
    call = constructed(draw)
    return Call((T([2]), *call.args))


SAMPLES: dict[str, Sample] = {
    "torch.Tensor.new": new,
    "torch.Tensor.new_tensor": new_tensor,
    "torch.tensor": tensor,
    "numpy.array": array,
    "torch.Tensor.numpy": to_numpy,
    "torch.Tensor": constructed,
    "torch.LongTensor": constructed,
    "torch.BoolTensor": constructed,
    "torch.nn.Parameter": parameter,
    "torch.complex": complex_,
    "torch.view_as_complex": as_complex,
    "torch.view_as_real": as_real,
}
