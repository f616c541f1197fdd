"""What becomes of an op's verdict before it is recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Operand, Problem
from shapedoc.core.value import Seq, Tensor, Value

__all__ = ["JOINS", "Said", "may_be_several", "rests_on_one_name", "said_of_parts", "undoubted"]

# What gives several tensors, or may.
_SEVERAL = frozenset(
    [
        *("GRU", "LSTM", "RNN", "LSTMCell", "MultiheadAttention", "multi_head_attention_forward"),
        *("max", "min", "median", "mode", "kthvalue", "cummax", "cummin", "topk", "sort", "aminmax", "var_mean"),
        *("chunk", "split", "tensor_split", "unbind", "hsplit", "vsplit", "dsplit", "meshgrid", "broadcast_tensors"),
        *("pad_packed_sequence", "pack", "unpack", "unique", "unique_consecutive", "where", "nonzero", "svd", "qr"),
    ]
)

# What makes one axis of several that lie end to end.
JOINS = frozenset(("cat", "hstack", "vstack", "dstack"))

Said = tuple[Mapping[str, Dim], str, set[str]]

# What is reported of a rank.
_RANKS = ("wrong-rank", "axis-out-of-range")
_RANK_REASONS = ("rank", "-1 for a new axis")


def may_be_several(name: str) -> bool:
    """Whether an op of which nothing is known gives a tuple, or may: what that is unpacked into are no rows."""
    return name.removesuffix(".forward").rpartition(".")[2] in _SEVERAL


def undoubted(
    problems: Sequence[Problem],
    operands: Sequence[Operand],
    described: Collection[int],
    commented: set[int],
    sizes: Sizes,
    *,
    tentative: bool = False,
) -> tuple[Problem, ...]:
    """The problems without those that rest on a rank or a size which is not certain.

    described: the tensors (their uid) whose rank rests on what the author states of them. commented: the axes
    (their identities) of which nothing but a comment on a tensor that was made says the size. tentative: the operands
    come of a rank that one branch has, of which another says nothing.
    """
    if tentative:
        problems = [p for p in problems if p.kind not in _RANKS and p.detail.get("why") not in _RANK_REASONS]
    sure = tuple(p for p in problems if not _doubtful(p, operands, described))
    return tuple(p for p in sure if not _commented(p, operands, commented, sizes)) if commented else sure


def rests_on_one_name(problem: Problem, operands: Sequence[Operand], sizes: Sizes, said: Iterable[Said]) -> bool:
    """Whether a size that does not fit is one that two parameters have because what is stated calls both the same.

    said: for each name what stands for the names of its function's sizes, the name, and the parameters that have it.
    """
    stated = {sizes.resolve(n[key]) for n, key, parameters in said if len(parameters) > 1 and key in n}
    learnt = {d for d in stated if d.sym is None or not d.sym.flexible}
    return any(sizes.resolve(axis.dim) in learnt for axis in _concerned(problem, operands, sizes))


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Seq) else (value,)


def _concerned(problem: Problem, operands: Sequence[Operand], sizes: Sizes) -> Iterator[Axis]:
    """The axes that do not fit."""
    for name, place in zip(problem.operands, problem.axes, strict=False):
        for value in (v for o in operands if o.name == name or name.startswith(f"{o.name}[") for v in _items(o.value)):
            shape = sizes.shape(value.shape) if isinstance(value, Tensor) else None
            if shape is not None and shape.run is None and 0 <= place < len(shape.axes):
                yield shape.axes[place]


def _commented(problem: Problem, operands: Sequence[Operand], commented: set[int], sizes: Sizes) -> bool:
    """Whether a size that does not fit is one that only a comment gives."""
    return any(not axis.ids.isdisjoint(commented) for axis in _concerned(problem, operands, sizes))


def _doubtful(problem: Problem, operands: Sequence[Operand], described: Collection[int]) -> bool:
    if problem.kind == "mismatched-join" and problem.detail.get("why") == "rank":
        return any(isinstance(v, Tensor) and v.uid in described for o in operands for v in _items(o.value))
    if problem.kind not in _RANKS or not problem.operands:
        return False
    at_fault = [o.value for o in operands if o.name == problem.operands[0]]
    return any(isinstance(v, Tensor) and v.uid in described for v in at_fault)


def said_of_parts(operands: Sequence[Operand], joined: Shape, commented: set[int], sizes: Sizes) -> set[int]:
    """The axes (their identities) of a join that have a size which only a comment gives: the sum rests on it too."""
    joined = sizes.shape(joined)
    shapes = [sizes.shape(v.shape) for o in operands for v in _items(o.value) if isinstance(v, Tensor)]
    parts = [s.axes for s in shapes if s.rank is not None and s.rank == joined.rank]
    return {
        i
        for place, axis in enumerate(joined.axes)
        for i in axis.ids
        if any(not axes[place].ids.isdisjoint(commented) for axes in parts)
    }
