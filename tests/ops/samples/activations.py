"""Calls of activation modules."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def elementwise(draw: Draw) -> Call:
    return Call([T(draw.shape(0, 4))])


def threshold(draw: Draw) -> Call:
    return Call([T(draw.shape(0, 4))], init=(0.1, 20.0))


def prelu(draw: Draw) -> Call:
    channels = draw.size()
    shape = [draw.size(), channels, *draw.shape(0, 2)]
    if draw.wrong():
        shape = draw.sampled([[channels], [shape[0], draw.other(channels)]])
    return Call([T(shape)], init=draw.sampled([(), (channels,)]))


def functional_prelu(draw: Draw) -> Call:
    channels = draw.size()
    shape = [draw.size(), channels, *draw.shape(0, 2)]
    return Call((T(shape), T(draw.sampled([[], [1], [channels], [draw.other(channels)]]))))


def softmax(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    if draw.maybe():
        return Call([T(shape)])
    return Call([T(shape)], options={"dim": draw.any_axis(len(shape))})


def softmax2d(draw: Draw) -> Call:
    return Call([T(draw.shape(2, 5))])


def glu(draw: Draw) -> Call:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    if not draw.wrong():
        shape[axis] = shape[axis] * 2
    options = {"dim": draw.any_axis(len(shape)) if draw.wrong() else axis}
    if draw.name.startswith("torch.nn.functional"):
        return Call([T(shape)], options)
    return Call([T(shape)], options=options)


ELEMENTWISE = (
    "CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish ReLU ReLU6 RReLU SELU SiLU "
    "Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink"
)
SAMPLES: dict[str, Sample] = {
    **{f"torch.nn.{name}": elementwise for name in ELEMENTWISE.split()},
    "torch.nn.Threshold": threshold,
    "torch.nn.PReLU": prelu,
    "torch.nn.functional.prelu": functional_prelu,
    **{f"torch.nn.{name}": softmax for name in ("Softmax", "Softmin", "LogSoftmax")},
    "torch.nn.Softmax2d": softmax2d,
    "torch.nn.GLU": glu,
    "torch.nn.functional.glu": glu,
}
