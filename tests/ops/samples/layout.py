"""Calls that move, add, drop and reverse axes."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def two_axes(draw: Draw) -> Call:
    shape = draw.shape("numpy" in draw.name, 4)
    return Call((T(shape), draw.any_axis(len(shape)), draw.any_axis(len(shape))))


def ranks(low: int, high: int, wrong: tuple[int, ...] = ()) -> Sample:
    """A tensor of such a rank, or of a wrong one."""

    def sample(draw: Draw) -> Call:
        if wrong and draw.wrong():
            return Call((T(draw.sizes(draw.sampled(wrong))),))
        return Call((T(draw.shape(low, high)),))

    return sample


def order(draw: Draw, rank: int) -> list[int]:
    """The axes in some order, or a wrong one."""
    axes = list(range(rank))
    draw.random.shuffle(axes)
    axes = [a - rank if draw.number(0, 3) == 0 else a for a in axes]
    if draw.wrong() and axes:
        axes = draw.sampled([axes[:-1], [*axes, 0], [*axes[:-1], rank], [axes[0]] * rank])
    return axes


def permute(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    axes = order(draw, len(shape))
    if draw.name == "torch.permute" or draw.maybe():
        return Call((T(shape), tuple(axes)))
    return Call((T(shape), *axes))


def numpy_transpose(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    if draw.name != "numpy.permute_dims" and draw.number(0, 3) == 0:
        return Call((T(shape),))
    return Call((T(shape), order(draw, len(shape))))


def movedim(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    rank = len(shape)
    if draw.maybe():
        return Call((T(shape), draw.any_axis(rank), draw.any_axis(rank)))
    source, target = order(draw, rank)[:2], order(draw, rank)[:2]
    return Call((T(shape), source, target))


def unsqueeze(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    return Call((T(shape), draw.any_axis(len(shape) + 1)))


def expand_dims(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    if draw.maybe():
        return unsqueeze(draw)
    return Call((T(shape), (draw.any_axis(len(shape) + 2), 0)))


def squeeze(draw: Draw) -> Call:
    shape = [draw.sampled([1, draw.size()]) for _ in range(draw.rank(1, 4))]
    if draw.number(0, 3) == 0:
        return Call((T(shape),))
    if draw.name == "torch.squeeze" and len(shape) > 1 and draw.maybe():
        return Call((T(shape), (0, draw.any_axis(len(shape)))))
    return Call((T(shape), draw.any_axis(len(shape))))


def as_strided(draw: Draw) -> Call:
    return Call((T([2, 2, draw.size()]), (2, 2), (1, 1)))


SAMPLES: dict[str, Sample] = {
    "torch.transpose": two_axes,
    "torch.t": ranks(0, 2, (3, 4)),
    "torch.Tensor.T": ranks(0, 4),
    "torch.Tensor.mT": ranks(2, 4, (1,)),
    "torch.Tensor.H": ranks(2, 2, (1, 3)),
    "torch.permute": permute,
    "numpy.transpose": numpy_transpose,
    "numpy.ndarray.transpose": numpy_transpose,
    "torch.movedim": movedim,
    "torch.unsqueeze": unsqueeze,
    "numpy.expand_dims": expand_dims,
    "torch.squeeze": squeeze,
    "numpy.squeeze": squeeze,
    "torch.Tensor.contiguous": ranks(0, 4),
    "torch.as_strided": as_strided,
}
