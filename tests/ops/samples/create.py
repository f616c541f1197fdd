"""Calls that make tensors."""

from __future__ import annotations

from tests.ops.drawing import Call, D, Draw, Sample, T

__all__ = ["SAMPLES"]


def dtype(draw: Draw) -> dict[str, object]:
    """Now and then a dtype."""
    if draw.number(0, 2):
        return {}
    return {"dtype": D(draw.sampled(["float64", "int64", "float32"]))}


def spread(draw: Draw) -> Call:
    """Sizes one by one or together."""
    shape = draw.shape(1, 4)
    kwargs = dtype(draw) if draw.name.rsplit(".", 1)[-1] in ("zeros", "ones", "empty") else {}
    return Call(shape if draw.maybe() else (tuple(shape),), kwargs)


def together(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    return Call((draw.sampled([shape[0], tuple(shape)]) if len(shape) == 1 else tuple(shape),), dtype(draw))


def full(draw: Draw) -> Call:
    return Call((tuple(draw.shape(0, 4)), draw.sampled([1, 0.5, True, float("-inf")])), dtype(draw))


def like(draw: Draw) -> Call:
    kwargs = dtype(draw) if "rand" not in draw.name else {}
    return Call(
        (T(draw.shape(0, 4), "float" if "rand" in draw.name else draw.sampled(["float", "int", "bool"])),), kwargs
    )


def full_like(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 4), draw.sampled(["float", "int"])), 3), dtype(draw))


def new_sizes(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    first = T([2], draw.sampled(["float", "int"]))
    return Call((first, *shape) if draw.maybe() else (first, tuple(shape)), dtype(draw))


def new_full(draw: Draw) -> Call:
    return Call((T([2], draw.sampled(["float", "int"])), tuple(draw.shape(0, 3)), 1), dtype(draw))


def arange(draw: Draw) -> Call:
    n = draw.size()
    if draw.maybe():
        return Call((n,) if draw.maybe() else (float(n),), dtype(draw))
    if draw.maybe():
        return Call((0, n * 2, 2), dtype(draw))
    start, step = draw.number(0, 3), draw.sampled([1, 2, 3, 0.5])
    return Call((start, start + int(n), step), symbolic=False)


def torch_range(draw: Draw) -> Call:
    return Call((0, draw.number(1, 9)))


def linspace(draw: Draw) -> Call:
    if draw.name.startswith("numpy") and draw.maybe():
        return Call((1.0, 2.0))
    return Call((1.0, 2.0, draw.size()))


def square(draw: Draw) -> Call:
    if draw.name == "numpy.identity":
        return Call((draw.size(),))
    return Call(draw.sizes(draw.number(1, 2)))


def triangle(draw: Draw) -> Call:
    return Call(draw.sizes(2), {"offset": draw.number(-1, 1)} if draw.maybe() else {}, data=True)


def one_hot(draw: Draw) -> Call:
    if draw.number(0, 3) == 0:
        return Call((T(draw.shape(1, 3), "int"),), data=True)
    return Call((T(draw.shape(0, 3), "int"), draw.size()))


SAMPLES: dict[str, Sample] = {
    "torch.zeros": spread,
    "numpy.zeros": together,
    "torch.full": full,
    "numpy.full": full,
    "torch.zeros_like": like,
    "torch.full_like": full_like,
    "torch.Tensor.new_zeros": new_sizes,
    "torch.Tensor.new_full": new_full,
    "torch.arange": arange,
    "torch.range": torch_range,
    "torch.linspace": linspace,
    "numpy.linspace": linspace,
    "torch.eye": square,
    "numpy.eye": square,
    "numpy.tri": square,
    "torch.tril_indices": triangle,
    "torch.nn.functional.one_hot": one_hot,
}
