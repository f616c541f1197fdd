"""What becomes of an op's verdict before it is recorded."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shapedoc.core.trace import Operand, Problem
from shapedoc.core.value import Seq, Tensor, Value

__all__ = ["may_be_several", "undoubted"]

# What gives several tensors, or may.
_SEVERAL = frozenset(
    [
        *("GRU", "LSTM", "RNN", "LSTMCell", "MultiheadAttention", "multi_head_attention_forward"),
        *("max", "min", "median", "mode", "kthvalue", "cummax", "cummin", "topk", "sort", "aminmax", "var_mean"),
        *("chunk", "split", "tensor_split", "unbind", "hsplit", "vsplit", "dsplit", "meshgrid", "broadcast_tensors"),
        *("pad_packed_sequence", "pack", "unpack", "unique", "unique_consecutive", "where", "nonzero", "svd", "qr"),
    ]
)

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
    return tuple(p for p in sure if not _commented(p, operands, commented)) if commented else sure


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Seq) else (value,)


def _commented(problem: Problem, operands: Sequence[Operand], commented: set[int]) -> bool:
    """Whether a size that does not fit is one that only a comment gives."""
    for name, place in zip(problem.operands, problem.axes, strict=False):
        for value in (v for o in operands if o.name == name or name.startswith(f"{o.name}[") for v in _items(o.value)):
            axes = value.shape.axes if isinstance(value, Tensor) and value.shape.run is None else ()
            if 0 <= place < len(axes) and not axes[place].ids.isdisjoint(commented):
                return True
    return False


def _doubtful(problem: Problem, operands: Sequence[Operand], described: Collection[int]) -> bool:
    if problem.kind == "mismatched-join" and problem.detail.get("why") == "rank":
        return any(isinstance(v, Tensor) and v.uid in described for o in operands for v in _items(o.value))
    if problem.kind not in _RANKS or not problem.operands:
        return False
    at_fault = [o.value for o in operands if o.name == problem.operands[0]]
    return any(isinstance(v, Tensor) and v.uid in described for v in at_fault)
