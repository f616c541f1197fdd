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
    """Sizes one by one or together; now and then a negative one."""
    shape = draw.shape(1, 4)
    if draw.wrong():
        shape[0] = -2
    kwargs = dtype(draw) if draw.name.rsplit(".", 1)[-1] in ("zeros", "ones", "empty") else {}
    return Call(shape if draw.maybe() else (tuple(shape),), kwargs)


def together(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    if draw.wrong():
        shape = [*shape, -2]
    return Call((draw.sampled([shape[0], tuple(shape)]) if len(shape) == 1 else tuple(shape),), dtype(draw))


def full(draw: Draw) -> Call:
    return Call((tuple(draw.shape(0, 4)), draw.sampled([1, 0.5, True, float("-inf")])), dtype(draw))


def like(draw: Draw) -> Call:
    kwargs = dtype(draw) if "rand" not in draw.name else {}
    return Call((T(draw.shape(0, 4), "float" if "rand" in draw.name else draw.sampled(["float", "int", "bool"])),), kwargs)


def full_like(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 4), draw.sampled(["float", "int"])), 3), dtype(draw))


def new_sizes(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    first = T([2], draw.sampled(["float", "int"]))
    return Call((first, *shape) if draw.maybe() else (first, tuple(shape)), dtype(draw))


def new_full(draw: Draw) -> Call:
    return Call((T([2], draw.sampled(["float", "int"])), tuple(draw.shape(0, 3)), 1), dtype(draw))


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


def multinomial(draw: Draw) -> Call:
    shape = draw.shape(1, 3 if draw.wrong() else 2)
    return Call((T(shape), draw.number(1, int(shape[-1]))))


def bernoulli(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3)),))


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


SAMPLES: dict[str, Sample] = {
    "torch.zeros": spread,
    "numpy.zeros": together,
    "torch.full": full,
    "numpy.full": full,
    "torch.zeros_like": like,
    "torch.rand_like": like,
    "torch.randint_like": randint_like,
    "torch.full_like": full_like,
    "torch.Tensor.new_zeros": new_sizes,
    "torch.Tensor.new_full": new_full,
    "torch.Tensor.new_tensor": new_tensor,
    "torch.randint": randint,
    "torch.normal": normal,
    "torch.randperm": randperm,
    "torch.arange": arange,
    "torch.range": torch_range,
    "torch.linspace": linspace,
    "numpy.linspace": linspace,
    "torch.eye": square,
    "numpy.eye": square,
    "numpy.tri": square,
    "torch.tril_indices": triangle,
    "torch.nn.functional.one_hot": one_hot,
    "torch.multinomial": multinomial,
    "torch.bernoulli": bernoulli,
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
