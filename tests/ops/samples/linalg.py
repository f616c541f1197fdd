"""Calls of matrix products."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def matmul(draw: Draw) -> Call:
    n, m, p = draw.sizes(3)
    batch = draw.shape(0, 2)
    left, right = [*batch, n, m], [*draw.broadcastable(batch), m, p]
    if draw.maybe():
        left = draw.sampled([[m], [n, m], left])
        right = draw.sampled([[m], [m, p], right])
    if draw.wrong():
        left, right = draw.sampled([(draw.spoilt(left), right), (left, draw.spoilt(right))])
    return Call((T(left), T(right)))


def exact(*shapes: str, kinds: tuple[str, ...] = ()) -> Sample:
    """Operands whose axes are letters."""

    def sample(draw: Draw) -> Call:
        sizes = {c: draw.size() for c in sorted(set("".join(shapes)))}
        drawn = [[sizes[c] for c in shape] for shape in shapes]
        if draw.wrong():
            i = draw.number(0, len(drawn) - 1)
            drawn[i] = draw.spoilt(drawn[i])
        return Call([T(s) for s in drawn])

    return sample


def numpy_dot(draw: Draw) -> Call:
    m = draw.size()
    left = draw.sampled([[], [m], [*draw.shape(1, 2), m]])
    right = draw.sampled([[], [m], [*draw.shape(0, 1), m, draw.size()]])
    if draw.wrong():
        right = draw.spoilt(right)
    return Call((T(left), T(right)))


def inner(draw: Draw) -> Call:
    m = draw.size()
    left, right = draw.sampled([[], [m], [*draw.shape(1, 2), m]]), draw.sampled([[], [m], [*draw.shape(1, 2), m]])
    if draw.wrong():
        right = draw.spoilt(right)
    return Call((T(left), T(right)))


def numpy_outer(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 2)), T(draw.shape(0, 2))))


def linear(draw: Draw) -> Call:
    m, p = draw.sizes(2)
    weight = draw.sampled([[p, m], [p, m], [m]])
    bias = draw.sampled([None, [p]]) if len(weight) == 2 else None
    left = [*draw.shape(0, 3), m]
    if draw.wrong():
        which = draw.number(0, 2)
        left = draw.spoilt(left) if which == 0 else left
        weight = [p, draw.other(m)] if which == 1 else weight
        bias = [draw.other(p)] if which == 2 and len(weight) == 2 and bias is not None else bias
    return Call((T(left), T(weight), *([T(bias)] if bias is not None else [])))


def tensordot(draw: Draw) -> Call:
    shared = draw.shape(0, 2)
    left, right = draw.shape(0, 2), draw.shape(0, 2)
    if draw.maybe():
        a, b = [*left, *shared], [*shared, *right]
        if draw.wrong() and shared:
            b[0] = draw.other(b[0])
        return Call((T(a), T(b), len(shared)))
    a, b = [*shared, *left], [*right, *reversed(shared)]
    ours = list(range(len(shared)))
    theirs = [len(b) - 1 - i for i in ours]
    if draw.wrong() and shared:
        a[0] = draw.other(a[0])
    return Call((T(a), T(b), (ours, theirs)))


def kron(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 3)), T(draw.shape(0, 3))))


def multi_dot(draw: Draw) -> Call:
    count = draw.rank(2, 4)
    sizes = draw.sizes(count + 1)
    shapes = [[sizes[i], sizes[i + 1]] for i in range(count)]
    if draw.wrong():
        shapes[-1] = [draw.other(sizes[count - 1]), sizes[count]]
    if draw.name == "torch.chain_matmul":
        return Call([T(s) for s in shapes])
    return Call(([T(s) for s in shapes],))


def cross(draw: Draw) -> Call:
    shape = [*draw.shape(0, 2), 3]
    if draw.wrong():
        return Call((T(shape), T([*shape[:-1], 2])), {"dim": -1})
    return Call((T(shape), T(shape)), {"dim": -1})


def trace(draw: Draw) -> Call:
    return Call((T(draw.shape(1, 3) if draw.wrong() else draw.sizes(2), draw.sampled(["float", "int"])),))


def cdist(draw: Draw) -> Call:
    batch = draw.shape(0, 2)
    n, p, m = draw.sizes(3)
    left, right = [*batch, n, m], [*draw.broadcastable(batch), p, m]
    if draw.wrong():
        right[-1] = draw.other(m)
    return Call((T(left), T(right)))


SAMPLES: dict[str, Sample] = {
    "torch.matmul": matmul,
    "torch.bmm": exact("bnm", "bmp"),
    "torch.mm": exact("nm", "mp"),
    "torch.mv": exact("nm", "m"),
    "torch.dot": exact("n", "n"),
    "numpy.dot": numpy_dot,
    "torch.inner": inner,
    "torch.outer": exact("n", "m"),
    "numpy.outer": numpy_outer,
    "torch.nn.functional.linear": linear,
    "torch.tensordot": tensordot,
    "torch.kron": kron,
    "torch.linalg.multi_dot": multi_dot,
    "torch.chain_matmul": multi_dot,
    "torch.cross": cross,
    "torch.trace": trace,
    "torch.cdist": cdist,
}
