"""What becomes of an op's verdict before it is recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Event, Operand, Problem
from shapedoc.core.value import Seq, Tensor, Value
from shapedoc.infer.values import Symbolic
from shapedoc.source import ir

__all__ = [
    "Said",
    "but_of_ranks",
    "concerns",
    "is_element",
    "is_of_one_rank",
    "is_one_or_several",
    "keeps_rank_of_all",
    "may_be_several",
    "of_rank",
    "said_of_parts",
    "undoubted",
    "writes_rank",
]

# What gives several tensors, or may.
_SEVERAL = frozenset(
    [
        *("GRU", "LSTM", "RNN", "LSTMCell", "MultiheadAttention", "multi_head_attention_forward"),
        *("max", "min", "median", "mode", "kthvalue", "cummax", "cummin", "topk", "sort", "aminmax", "var_mean"),
        *("chunk", "split", "tensor_split", "unbind", "hsplit", "vsplit", "dsplit", "meshgrid", "broadcast_tensors"),
        *("pad_packed_sequence", "pack", "unpack", "unique", "unique_consecutive", "where", "nonzero", "svd", "qr"),
    ]
)

# What takes and gives one rank.
_AS_MANY = frozenset(("gather", "take_along_dim", "take_along_axis", "cat", "concat", "concatenate"))
_OF_ONE_RANK = frozenset(("bmm", "baddbmm", "mm", "addmm"))
_RESHAPES = frozenset(("view", "reshape"))

# What makes one axis of several that lie end to end.
_JOINS = frozenset(("cat", "hstack", "vstack", "dstack"))

# What makes a tensor of a shape and of nothing else.
_CREATES = frozenset(
    f"{library}.{name}" for library in ("torch", "numpy") for name in ("zeros", "ones", "empty", "rand", "randn")
)

Said = tuple[Mapping[str, Dim], str, set[str]]

# What is reported of a rank.
_RANKS = ("wrong-rank", "axis-out-of-range")
_RANK_REASONS = ("rank", "-1 for a new axis")


def of_rank(problem: Problem) -> dict[str, str] | None:
    """What is wanted and got of a rank, where that is what a problem is about."""
    detail = dict(problem.detail)
    axis = detail.get("axis", "")
    if problem.kind == "axis-out-of-range" and axis.removeprefix("-").isdigit():
        least = int(axis) + 1 if int(axis) >= 0 else -int(axis)
        return {"wanted": f"at least {least}", "got": detail.get("rank", "")}
    return detail if problem.kind == "wrong-rank" or detail.get("why") in _RANK_REASONS else None


def may_be_several(name: str) -> bool:
    """Whether an op of which nothing is known gives a tuple, or may: what that is unpacked into are no rows."""
    return name.removesuffix(".forward").rpartition(".")[2] in _SEVERAL


def is_of_one_rank(name: str) -> bool:
    """Whether an op takes and gives tensors of one rank only, whatever is known of its operands."""
    return name.rpartition(".")[2] in _OF_ONE_RANK


def writes_rank(name: str, node: ir.Expr | ir.Stmt) -> bool:
    """Whether a call lists the sizes that it makes, ``view(B, 1, d)``: they are so many, whatever it is given."""
    if name.rpartition(".")[2] not in _RESHAPES or not isinstance(node, ir.Call):
        return False
    method = name.startswith(("torch.Tensor.", "numpy.ndarray."))
    listed = node.args if method else node.args[1:2]
    if len(listed) == 1:
        return isinstance(listed[0], ir.Sequence) and _are_sizes(listed[0].items)
    return len(listed) > 1 and _are_sizes(listed)


def _are_sizes(listed: Sequence[ir.Expr]) -> bool:
    """Whether each of these is a size that is given: what is left for a -1 depends on how many axes there were."""
    return not any(isinstance(size, ir.Starred | ir.UnaryOp) for size in listed)


def keeps_rank_of_all(name: str) -> bool:
    """Whether all that an op takes, and what it gives, have one number of axes: that of any of them is the result's."""
    return name.rpartition(".")[2] in _AS_MANY


def is_one_or_several(name: str, size: Value) -> bool:
    """Whether a new tensor is asked for by a parameter of which nothing else is known: one size, or a tuple of them."""
    if name not in _CREATES or not isinstance(size, Symbolic):
        return False
    size.alone = size.alone or not size.counted
    return size.alone


def is_element(name: str, operands: Sequence[Operand], result: Value) -> bool:
    """Whether one element is taken of a row that is given: of an array of arrays, it is another array.

    Of what such a row holds nothing is known; what torch, or NumPy of numbers, has made holds no arrays.
    """
    if name != "operator.getitem" or not isinstance(result, Tensor) or result.shape.rank != 0:
        return False
    taken = operands[0].value if operands else None
    return isinstance(taken, Tensor) and taken.event < 0 and not taken.kind


def undoubted(
    problems: Sequence[Problem],
    operands: Sequence[Operand],
    described: Collection[int],
    commented: set[int],
    sizes: Sizes,
    said: Collection[Said] = (),
    *,
    tentative: bool = False,
) -> tuple[Problem, ...]:
    """The problems without those that rest on a rank or a size which is not certain.

    described: the tensors (their uid) whose rank rests on what the author states of them. commented: the axes
    (their identities) of which nothing but a comment on a tensor that was made says the size. said: what is stated of
    parameters, see `_rests_on_one_name`. tentative: the operands come of a rank that one branch has, of which another
    says nothing, or of one that is stated.
    """
    if tentative:
        problems = [p for p in but_of_ranks(problems) if not _is_of_a_square(p, operands, sizes)]
    sure = tuple(p for p in problems if not _doubtful(p, operands, described))
    if commented:
        sure = tuple(p for p in sure if not _commented(p, operands, commented, sizes))
    return tuple(p for p in sure if not _rests_on_one_name(p, operands, sizes, said)) if said else sure


def but_of_ranks(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The problems that are not about how many axes a tensor has."""
    return tuple(p for p in problems if p.kind not in _RANKS and p.detail.get("why") not in _RANK_REASONS)


def _rests_on_one_name(problem: Problem, operands: Sequence[Operand], sizes: Sizes, said: Iterable[Said]) -> bool:
    """Whether a size that does not fit is one that two parameters have because what is stated calls both the same.

    said: for each name what stands for the names of its function's sizes, the name, and the parameters that have it.
    """
    stated = {sizes.resolve(n[key]) for n, key, parameters in said if len(parameters) > 1 and key in n}
    learnt = {d for d in stated if d.sym is None or not d.sym.flexible}
    return any(sizes.resolve(axis.dim) in learnt for axis in _concerned(problem, operands, sizes))


def _is_of_a_square(problem: Problem, operands: Sequence[Operand], sizes: Sizes) -> bool:
    """Whether what is stated of a tensor has two names for the two axes of a square: queries and keys are one sequence.

    The one name has turned out to be the size that both axes have of what it meets.
    """
    if problem.kind != "elementwise":
        return False
    shapes = {o.name: shape for o in operands if o.shape is not None and (shape := sizes.shape(o.shape)).rank}
    for name, place in zip(problem.operands, problem.axes, strict=False):
        mine = shapes.get(name)
        if mine is None or not 0 <= place < len(mine.axes):
            continue
        back = place - len(mine.axes)
        for other in (s for s in shapes.values() if s is not mine and -back <= len(s.axes)):
            met = sizes.resolve(other.axes[back].dim)
            ours, theirs = ([sizes.resolve(a.dim) for a in s.axes] for s in (mine, other))
            if met.const is None and met in ours and theirs.count(met) > 1:
                return True
    return False


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Seq) else (value,)


def _concerned(problem: Problem, operands: Sequence[Operand], sizes: Sizes) -> Iterator[Axis]:
    """The axes that do not fit."""
    for name, place in zip(problem.operands, problem.axes, strict=False):
        for value in (v for o in operands if o.name == name or name.startswith(f"{o.name}[") for v in _items(o.value)):
            shape = sizes.shape(value.shape) if isinstance(value, Tensor) else None
            if shape is not None and shape.run is None and 0 <= place < len(shape.axes):
                yield shape.axes[place]


def concerns(problem: Problem, operands: Sequence[Operand], names: Collection[Sym], sizes: Sizes) -> bool:
    """Whether a size that does not fit has one of these names."""
    return any(not sizes.resolve(axis.dim).syms.isdisjoint(names) for axis in _concerned(problem, operands, sizes))


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


def said_of_parts(event: Event, commented: set[int]) -> set[int]:
    """The axes (their identities) of a join that have a size which only a comment gives: the sum rests on it too."""
    sizes = event.sizes
    if event.short not in _JOINS or event.shape is None or sizes is None:
        return set()
    joined = sizes.shape(event.shape)
    shapes = [sizes.shape(v.shape) for o in event.operands for v in _items(o.value) if isinstance(v, Tensor)]
    parts = [s.axes for s in shapes if s.rank is not None and s.rank == joined.rank]
    return {
        i
        for place, axis in enumerate(joined.axes)
        for i in axis.ids
        if any(not axes[place].ids.isdisjoint(commented) for axes in parts)
    }
