"""Prediction and target of a loss: whether they meet, and what is left after the reduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind, Sameness, Sizes, Strength
from shapedoc.core.value import Bool, NoneValue, Seq, Str, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.broadcast import broadcast

__all__ = ["check_weight", "classified", "compare_axes", "paired", "reduced", "reduction_of", "same_shape"]

_LEGACY = ("size_average", "reduce")


def reduction_of(settings: Mapping[str, Value], options: Sequence[Value] = ()) -> str | None:
    """ "none", "mean", "sum" or "batchmean"; None where it is not known.

    settings: arguments by name, the deprecated size_average and reduce among them. options: arguments by position,
    among which the reduction is the only string.
    """
    found: Value | None = settings.get("reduction")
    given = [v for option in options for v in (option.items if isinstance(option, Seq) else (option,))]
    for option in given:
        if isinstance(option, Str):
            found = option
        elif isinstance(option, Bool):
            return None
    legacy = [settings.get(name, NoneValue()) for name in _LEGACY]
    if not all(isinstance(v, NoneValue) for v in legacy):
        flags = [v.value if isinstance(v, Bool) else True if isinstance(v, NoneValue) else None for v in legacy]
        average, reduce = flags
        if reduce is None or (reduce and average is None):
            return None
        return "none" if not reduce else "mean" if average else "sum"
    if found is None:
        return "mean"
    return found.value if isinstance(found, Str) else None


def reduced(at: OpContext, shape: Shape, reduction: str | None, like: Tensor) -> Tensor:
    """The loss: one for every element of `shape`, or one in all."""
    if reduction is None:
        return at.unknown(like, kind="float")
    return at.tensor(shape if reduction == "none" else (), like, kind="float")


def paired(at: OpContext, input: Tensor, target: Tensor) -> Shape:
    """The shape of elementwise losses that broadcast.

    Conflict: "mismatched-loss" where torch cannot broadcast; "loss-broadcast", which raises nothing, where one of the
    two is repeated to meet the other, and neither is a single number.
    """
    before = len(at.problems)
    shape = broadcast(at, input, target, problem="mismatched-loss")
    ours, theirs = at.shape(input), at.shape(target)
    if len(at.problems) > before or ours.rank is None or theirs.rank is None:
        return shape
    if not _single(ours) and not _single(theirs) and _widened(at.sizes, ours, theirs):
        at.conflict(
            "loss-broadcast",
            [input, target],
            loud=False,
            why="rank" if ours.rank != theirs.rank else "one",
            input=at.sizes.show_shape(ours),
            target=at.sizes.show_shape(theirs),
            result=at.sizes.show_shape(shape),
        )
    return shape


def _single(shape: Shape) -> bool:
    return all(a.dim.const == 1 for a in shape.axes)


def _widened(sizes: Sizes, a: Shape, b: Shape) -> bool:
    """Whether one of two shapes is repeated along an axis to meet the other.

    A letter that stands for a size in a comment only may stand for the 1 too, where nothing else is repeated.
    """
    for i in range(1, max(len(a.axes), len(b.axes)) + 1):
        x = a.axes[-i].dim if i <= len(a.axes) else None
        y = b.axes[-i].dim if i <= len(b.axes) else None
        for one, other in ((x, y), (y, x)):
            if other is not None and (one is None or one.const == 1) and (other.named or other.value not in (None, 1)):
                sym = sizes.resolve(other).sym
                lettered = sym is not None and sym.flexible and sym.origin == "stated" and sym.value is None
                if one is None or not lettered:
                    return True
    return False


def same_shape(at: OpContext, input: Tensor, target: Tensor) -> Shape:
    """The shape of elementwise losses that do not broadcast; conflict "mismatched-loss"."""
    ours, theirs = at.shape(input), at.shape(target)
    if ours.rank is None and theirs.rank is None:
        return ours
    if ours.rank is None or theirs.rank is None:
        rank = ours.rank if ours.rank is not None else theirs.rank or 0
        at.need_rank(input, rank)
        at.need_rank(target, rank)
        ours, theirs = at.shape(input), at.shape(target)
    if ours.rank != theirs.rank:
        _of_rank(at, input, target, at.sizes.show_shape(ours))
        return ours
    compare_axes(at, input, target, [(i, i) for i in range(len(ours.axes))])
    return Shape(tuple(a.merged(b) for a, b in zip(ours.axes, theirs.axes, strict=True)))


def _of_rank(at: OpContext, input: Tensor, target: Tensor, wanted: str, class_axis: str = "") -> None:
    at.conflict(
        "mismatched-loss",
        [target, input],
        loud=True,
        why="rank",
        wanted=wanted,
        got=at.sizes.show_shape(at.shape(target)),
        given=at.sizes.show_shape(at.shape(input)),
        class_axis=class_axis,
    )


def compare_axes(
    at: OpContext,
    input: Tensor,
    target: Tensor,
    pairs: Sequence[tuple[int, int]],
    wanted: str = "",
    class_axis: str = "",
    *,
    indices: bool = False,
) -> None:
    """Require these axes of input and target to agree; reports the first that do not.

    indices: the target has one index for every position, so that none of its axes is a feature.
    """
    ours, theirs = at.shape(input).axes, at.shape(target).axes
    for i, j in pairs:
        a, b = ours[i], theirs[j]
        sameness = _positions(at, a, b) if indices and i > 1 else at.meet(a, b)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            at.conflict(
                "mismatched-loss",
                [input, target],
                axes=(i, j),
                dims=(a.dim, b.dim),
                sameness=sameness,
                loud=sameness.kind is Kind.NEVER,
                why="size",
                wanted=wanted,
                class_axis=class_axis,
                given=at.sizes.show_shape(at.shape(input)),
                got=at.sizes.show_shape(at.shape(target)),
            )
            return


def _positions(at: OpContext, a: Axis, b: Axis) -> Sameness:
    """Whether an axis of the input is an axis of positions of the target: one that a learned map made never is."""
    sameness = at.sizes.compare(a.dim, b.dim)
    if sameness.kind is Kind.ONLY_IF and at.sizes.role(a, "feature") and not at.sizes.role(b, "feature"):
        return replace(sameness, strength=Strength.STRONG)
    return at.meet(a, b)


def classified(at: OpContext, input: Tensor, target: Tensor, *, probabilities: bool) -> Shape:
    """The shape of a classification loss: the input's without its classes, which stand on axis 1 (0 of one axis).

    target: one index for every other position, or with `probabilities`, where it has floats, the input's shape.
    Conflict "mismatched-loss", with the classes' axis.
    """
    _learn_classes(at, input, target)
    ours, theirs = at.shape(input), at.shape(target)
    if ours.rank is None:
        return at.shape(target) if target.kind == "int" else Shape.unknown()
    if ours.rank == 0:
        at.fail("mismatched-loss", [input, target], why="rank", wanted="at least 1", got="0")
    classes = 0 if ours.rank == 1 else 1
    rest = [i for i in range(ours.rank) if i != classes]
    result = Shape(tuple(ours.axes[i] for i in rest))
    wanted = at.sizes.show_shape(result)
    if theirs.rank is None:
        return result
    if theirs.rank == ours.rank - 1 and _are_classes_last(at, ours, theirs):
        last = ours.rank - 1
        at.conflict(
            "mismatched-loss",
            [input, target],
            axes=(last, last - 1),
            dims=(ours.axes[-1].dim, theirs.axes[-1].dim),
            sameness=Sameness(Kind.ONLY_IF, Strength.STRONG),
            loud=False,
            why="size",
            wanted=wanted,
            class_axis=str(classes),
            given=at.sizes.show_shape(ours),
            got=at.sizes.show_shape(theirs),
        )
    elif theirs.rank == ours.rank - 1:
        pairs = [(i, j) for j, i in enumerate(rest)]
        compare_axes(at, input, target, pairs, wanted, str(classes), indices=True)
    elif theirs.rank == ours.rank and probabilities and target.kind != "int":
        if not (ours.rank == 1 and theirs.axes[0].dim.const == 1):
            compare_axes(at, input, target, [(i, i) for i in range(ours.rank)], class_axis=str(classes), wanted=wanted)
    elif not (ours.rank == theirs.rank == 1 and theirs.axes[0].dim.value in (None, 1)):
        _of_rank(at, input, target, wanted, str(classes))
    return result


def _are_classes_last(at: OpContext, ours: Shape, theirs: Shape) -> bool:
    """Whether all axes but the last are the target's, and nobody gives the last its size: (B, T, ?) and (B, T)."""
    if ours.rank is None or ours.rank < 3 or ours.rank != len(theirs.axes) + 1:
        return False
    last = at.sizes.resolve(ours.axes[-1].dim).sym
    if last is None or last.name or not last.flexible:
        return False
    pairs = [(at.sizes.resolve(a.dim), at.sizes.resolve(b.dim)) for a, b in zip(ours.axes, theirs.axes, strict=False)]
    return all(a == b and a.named for a, b in pairs) and len({a for a, _ in pairs}) == len(pairs)


def _learn_classes(at: OpContext, input: Tensor, target: Tensor) -> None:
    """Learn the rank of one from that of the other, where the target is known to have indices."""
    ours, theirs = at.shape(input).rank, at.shape(target).rank
    if target.kind != "int":
        return
    if ours is None and theirs is not None and theirs >= 2:
        at.need_rank(input, theirs + 1)
    elif theirs is None and ours is not None and ours >= 2:
        at.need_rank(target, ours - 1)


def check_weight(at: OpContext, input: Tensor, weight: Tensor | None) -> None:
    """Require one weight for every class."""
    shape = at.shape(input)
    if weight is None or not shape.rank:
        return
    (length,) = at.need_rank(weight, 1)
    classes: Axis = shape.axes[0 if shape.rank == 1 else 1]
    sameness = at.meet(length, classes)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "mismatched-loss",
            ["weight", input],
            axes=(0, 0 if shape.rank == 1 else 1),
            dims=(length.dim, classes.dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
            why="weight",
        )
