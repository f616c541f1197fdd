"""Matrices inverted, taken apart and solved for."""

from __future__ import annotations

from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.contracted import contract
from shapedoc.ops.registry import named, op

__all__: list[str] = []


@op(
    *named("inv cholesky", "torch.linalg", "numpy.linalg"),
    *named("inverse cholesky matrix_exp", "torch", "torch.Tensor"),
    "torch.linalg.matrix_exp",
)
def inverse(at: OpContext, a: Tensor) -> Value:
    """The inverse, the Cholesky factor or the exponential of square matrices.

    a (*, n, n) -> (*, n, n)
    Conflict: fewer than two axes; a matrix that is not square.
    Source: NumPy reference, numpy.linalg.inv.
    """
    _square(at, a)
    return at.tensor(at.shape(a), a, kind="float")


@op(*named("det", "torch.linalg", "numpy.linalg", "torch", "torch.Tensor"), *named("logdet", "torch", "torch.Tensor"))
def determinant(at: OpContext, a: Tensor) -> Value:
    """The determinant of square matrices.

    a (*, n, n) -> (*)
    Conflict: fewer than two axes; a matrix that is not square.
    Source: NumPy reference, numpy.linalg.det.
    """
    _square(at, a)
    return at.tensor(at.shape(a).items[:-2], a, kind="float")


@op(*named("eigh", "torch.linalg", "numpy.linalg"))
def eigh(at: OpContext, a: Tensor, uplo: Value | None = None) -> Value:
    """Eigenvalues and eigenvectors of symmetric matrices.

    a (*, n, n) -> (*, n), (*, n, n)
    Conflict: fewer than two axes; a matrix that is not square.
    Source: NumPy reference, numpy.linalg.eigh.
    """
    n = _square(at, a)
    items = at.shape(a).items
    values = at.tensor((*items[:-2], at.axis(n.dim)), a, kind="float")
    return Seq((values, at.tensor((*items[:-1], at.axis(n.dim)), a, kind="float")))


def _square(at: OpContext, a: Tensor) -> Axis:
    n, m = at.suffix(a, 2)
    sameness = at.meet(n, m)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        rank = at.shape(a).rank
        axes = (-2, -1) if rank is None else (rank - 2, rank - 1)
        at.conflict(
            "mismatched-product",
            [a, a],
            axes=axes,
            dims=(n.dim, m.dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            why="square",
        )
    return n


@op(*named("svd", "numpy.linalg"))
def svd(at: OpContext, a: Tensor, full_matrices: bool = True, compute_uv: bool = True, **settings: Value) -> Value:
    """Singular values, and vectors on request.

    a (*, m, n) -> u (*, m, k or m), s (*, k), vh (*, k or n, n) with k = min(m, n)
    Conflict: fewer than two axes.
    Source: NumPy reference, numpy.linalg.svd.
    """
    m, n = at.suffix(a, 2)
    lead = at.shape(a).items[:-2]
    known = (m.dim.const, n.dim.const)
    count = at.fresh() if None in known else at.axis(min(k for k in known if k is not None))
    s = at.tensor((*lead, count), a, kind="float")
    if not compute_uv:
        return s
    u = at.tensor((*lead, m, at.axis(m.dim) if full_matrices else count), a, kind="float")
    vh = at.tensor((*lead, at.axis(n.dim) if full_matrices else count, n), a, kind="float")
    return Seq((u, s, vh))


@op(*named("solve", "torch.linalg", "numpy.linalg"))
def solve(at: OpContext, a: Tensor, b: Tensor) -> Value:
    """Solve linear equations; b is a vector, or a stack of matrices.

    a (*, n, n), b (n,) or (*, n, k) -> as b
    Conflict: a matrix that is not square; n differs.
    Source: NumPy reference, numpy.linalg.solve.
    """
    n = _square(at, a)
    rank = at.shape(b).rank
    if rank is None or at.shape(a).rank != 2 or rank > 2:
        at.lost("rank unknown")
    first = at.prefix(b, 1)[0]
    contract(at, a, b, (1, 0), (n, first))
    return at.tensor(at.shape(b), b, kind="float")


@op(*named("svd", "torch.linalg"))
def torch_svd(at: OpContext, a: Tensor, full_matrices: bool = True, *, driver: Value | None = None) -> Value:
    """Singular values and vectors.

    a (*, m, n) -> u (*, m, k or m), s (*, k), vh (*, k or n, n) with k = min(m, n)
    Conflict: fewer than two axes.
    Source: PyTorch documentation, torch.linalg.svd.
    """
    return svd(at, a, full_matrices)


@op(*named("pinv", "torch.linalg", "numpy.linalg"), "torch.pinverse", "torch.Tensor.pinverse")
def pseudo_inverse(at: OpContext, a: Tensor, **settings: Value) -> Value:
    """The pseudo-inverse of matrices.

    a (*, n, m) -> (*, m, n)
    Conflict: fewer than two axes.
    Source: PyTorch documentation, torch.linalg.pinv.
    """
    n, m = at.suffix(a, 2)
    return at.tensor((*at.shape(a).items[:-2], m, n), a, kind="float")


@op(*named("qr", "torch.linalg", "numpy.linalg"), "torch.qr", "torch.Tensor.qr")
def qr(at: OpContext, a: Tensor, **settings: Value) -> Value:
    """An orthogonal and a triangular factor.

    a (*, m, n) -> q (*, m, k), r (*, k, n) with k = min(m, n)
    Conflict: fewer than two axes.
    Source: PyTorch documentation, torch.linalg.qr.
    """
    if settings:
        at.lost("another form of the factors")
    m, n = at.suffix(a, 2)
    lead = at.shape(a).items[:-2]
    known = (m.dim.const, n.dim.const)
    count = at.fresh() if None in known else at.axis(min(k for k in known if k is not None))
    return Seq((at.tensor((*lead, m, count), a, kind="float"), at.tensor((*lead, count, n), a, kind="float")))
