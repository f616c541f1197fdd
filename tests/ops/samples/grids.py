"""Calls that pad, and make grids and combinations."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def pad(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    pairs = draw.number(1, len(shape) + draw.wrong())
    return Call((T(shape), tuple(draw.number(0, 2) for _ in range(2 * pairs))))


def numpy_pad(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    widths = draw.sampled([1, tuple((draw.number(0, 2), draw.number(0, 2)) for _ in shape)])
    return Call((T(shape), widths))


def broadcast_tensors(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    shapes = [shape, draw.broadcastable(shape), draw.broadcastable(shape)]
    if draw.wrong():
        shapes[1] = draw.spoilt(shape)
    return Call([T(s) for s in shapes])


def meshgrid(draw: Draw) -> Call:
    shapes = [draw.sizes(1) for _ in range(draw.number(1, 3))]
    if draw.wrong() and draw.name.startswith("torch"):
        shapes[0] = draw.sizes(2)
    return Call([T(s) for s in shapes], {"indexing": draw.sampled(["ij", "xy"])} if draw.maybe() else {})


def vectors(draw: Draw) -> Call:
    shapes = [draw.sizes(1) for _ in range(draw.number(1, 3))]
    if draw.wrong():
        shapes[0] = draw.sizes(2)
    return Call([T(s) for s in shapes])


def block_diag(draw: Draw) -> Call:
    return Call([T(draw.shape(0, 3 if draw.wrong() else 2)) for _ in range(draw.number(1, 3))])


SAMPLES: dict[str, Sample] = {
    "torch.nn.functional.pad": pad,
    "numpy.pad": numpy_pad,
    "torch.broadcast_tensors": broadcast_tensors,
    "torch.meshgrid": meshgrid,
    "torch.cartesian_prod": vectors,
    "torch.block_diag": block_diag,
}
