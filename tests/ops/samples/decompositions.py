"""Calls that invert matrices, take them apart and solve for them."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def square(draw: Draw) -> Call:
    n = draw.size()
    shape = [*draw.shape(0, 2), n, n]
    if draw.wrong():
        shape = draw.sampled([[n], [*shape[:-1], n + 1]])
    # A matrix of ones can be inverted, and has a factor, only where it has one element.
    if not draw.name.endswith(("det", "eigh", "exp")) and shape[-2:] == [n, n]:
        shape[-2:] = [1, 1]
    return Call([T(shape)])


def any_matrix(draw: Draw) -> Call:
    return Call([T(draw.shape(1, 4))], symbolic=False)


def svd(draw: Draw) -> Call:
    options = [{}, {"full_matrices": False}, *([{"compute_uv": False}] if draw.name.startswith("numpy") else [])]
    return Call([T(draw.shape(1, 4))], draw.sampled(options), symbolic=False)


def solve(draw: Draw) -> Call:
    n = 1
    right = [draw.other(n) if draw.wrong() else n, *draw.shape(0, 1)]
    return Call((T([n, n if draw.number(0, 4) else 2]), T(right)))


SAMPLES: dict[str, Sample] = {
    "torch.linalg.inv": square,
    "torch.linalg.det": square,
    "torch.linalg.eigh": square,
    "numpy.linalg.svd": svd,
    "torch.linalg.svd": svd,
    "torch.linalg.solve": solve,
    "torch.linalg.pinv": any_matrix,
    "torch.linalg.qr": any_matrix,
}
