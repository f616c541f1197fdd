"""What an op gets to work with: sizes that can be compared and learnt, and a place to report conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis, Run, Shape, new_id
from shapedoc.core.sizes import LETTER, Sameness, Sizes
from shapedoc.core.trace import Problem
from shapedoc.core.value import Kind, Order, Tensor, Value
from shapedoc.core.verdict import Lost

__all__ = ["Broken", "OpContext", "seen_twice"]

# A tensor has no more axes than this, in PyTorch as in NumPy.
MOST_AXES = 64


class Broken(Exception):
    """Raised by `OpContext.fail`: the call cannot work, and nothing is known of what it would have given."""


def seen_twice(shape: Shape, rank: int) -> bool:
    """Whether a shape seen from both ends may have no more than `rank` axes: (n, 1) seen as (a, 1, ..., b)."""
    first, last = shape.prefix, shape.suffix
    if shape.run is None or not max(len(first), len(last)) <= rank < len(first) + len(last):
        return False
    return all(_may_be_one(a, b) for a, b in zip(first[rank - len(last) :], last, strict=False))


def _may_be_one(a: Axis, b: Axis) -> bool:
    """Whether the axis `a` may be `b`, seen from the other end: it was put in, or nothing names a size of theirs."""
    if (a.visible and a.dim == ONE) or a.dim == b.dim:
        return True
    return not all(axis.dim.named or axis.dim.const is not None for axis in (a, b))


class OpContext:
    """Passed to every op as `at`.

    An op that cannot follow its arguments calls `lost(reason)`. One whose operands do not fit calls
    `conflict(problem)` and goes on as if they had fitted, or `fail(problem)` where there is no sensible result.
    """

    __slots__ = ("bound", "line", "problems", "sizes")

    def __init__(self, sizes: Sizes, bound: Mapping[str, Value], line: int = 0) -> None:
        self.sizes = sizes
        self.bound = bound
        self.line = line
        self.problems: list[Problem] = []

    # -- reporting

    def lost(self, reason: str) -> NoReturn:
        """Give up on this call: the result is Unknown."""
        raise Lost(reason)

    def conflict(
        self,
        kind: str,
        operands: Iterable[Tensor | str] = (),
        *,
        axes: Iterable[int] = (),
        dims: Iterable[Dim] = (),
        sameness: Sameness | None = None,
        loud: bool = True,
        **detail: str,
    ) -> None:
        """Report that operands (tensors, or names of parameters) do not fit."""
        names = tuple(o if isinstance(o, str) else self.name_of(o) for o in operands)
        sizes = tuple(self.sizes.show(d) for d in dims)
        self.problems.append(Problem(kind, names, tuple(axes), sizes, sameness, loud, detail))

    def fail(
        self,
        kind: str,
        operands: Iterable[Tensor | str] = (),
        *,
        axes: Iterable[int] = (),
        dims: Iterable[Dim] = (),
        sameness: Sameness | None = None,
        **detail: str,
    ) -> NoReturn:
        """Report a conflict after which nothing is known of the result."""
        self.conflict(kind, operands, axes=axes, dims=dims, sameness=sameness, loud=True, **detail)
        raise Broken

    def name_of(self, value: Value) -> str:
        """The parameter that a value was passed as (``tensors[1]`` for one in a list)."""
        for name, bound in self.bound.items():
            if bound is value or getattr(bound, "_tensor", None) is value:
                return name
            items = getattr(bound, "items", None)
            if isinstance(items, tuple):
                for i, item in enumerate(items):
                    if item is value or getattr(item, "_tensor", None) is value:
                        return f"{name}[{i}]"
        return ""

    # -- shapes in

    def shape(self, tensor: Tensor) -> Shape:
        """The tensor's shape, with all that is known put in."""
        return self.sizes.shape(tensor.shape)

    def axes(self, tensor: Tensor) -> tuple[Axis, ...]:
        """The tensor's axes; the call is lost where its rank is unknown."""
        shape = self.shape(tensor)
        if shape.run is not None:
            self.lost("rank unknown")
        return shape.axes

    def need_rank(self, tensor: Tensor, *ranks: int) -> tuple[Axis, ...]:
        """The axes of a tensor that must have one of these ranks.

        With one possible rank, an unknown one is learnt. Another rank is a "wrong-rank" conflict, and the end.
        """
        shape = self.shape(tensor)
        if shape.run is None:
            if len(shape.items) not in ranks:
                wanted = " or ".join(str(r) for r in ranks)
                self.fail("wrong-rank", [tensor], wanted=wanted, got=str(len(shape.items)))
            return shape.axes
        known = len(shape.items) - 1
        possible = [r for r in ranks if r >= known]
        if not possible and any(seen_twice(shape, rank) for rank in ranks):
            self.lost("rank unknown")
        if not possible:
            wanted = " or ".join(str(r) for r in ranks)
            self.fail("wrong-rank", [tensor], wanted=wanted, got=f"{known} or more")
        if len(possible) > 1:
            self.lost("rank unknown")
        self._bind_run(shape, possible[0] - known)
        return self.shape(tensor).axes

    def _bind_run(self, shape: Shape, rank: int) -> None:
        run = next(i for i in shape.items if isinstance(i, Run))
        self.sizes.bind_run(run, tuple(Axis(self.sizes.fresh(line=self.line)) for _ in range(rank)))

    def _is_all(self, shape: Shape, count: int) -> bool:
        """Whether a shape that can have no more than `count` axes is asked for as many: then it has them."""
        run = shape.items[shape.run] if shape.run is not None else None
        if not isinstance(run, Run) or run.most is None or len(shape.axes) + run.most != count:
            return False
        self._bind_run(shape, run.most)
        return True

    def suffix(self, tensor: Tensor, count: int) -> tuple[Axis, ...]:
        """The last `count` axes; where they are unknown, that they exist is learnt.

        A tensor with fewer axes is a "wrong-rank" conflict, and the end. Lost where they may be among the leading
        axes that are known; the first and the last axis are taken to be two.
        """
        shape = self.shape(tensor)
        if shape.run is None:
            if len(shape.items) < count:
                self.fail("wrong-rank", [tensor], wanted=f"at least {count}", got=str(len(shape.items)))
            return shape.axes[len(shape.items) - count :]
        missing = count - len(shape.suffix)
        if missing > 0 and self._is_all(shape, count):
            return self.axes(tensor)
        if missing > 0:
            if len(shape.prefix) > 1 or (shape.prefix and count > 1):
                self.lost("rank unknown")
            self._few(count)
            run = shape.items[shape.run]
            assert isinstance(run, Run)
            new = tuple(Axis(self.sizes.fresh(line=self.line)) for _ in range(missing))
            self.sizes.bind_run(run, (*run.without(missing), *new))
            shape = self.shape(tensor)
        return shape.suffix[len(shape.suffix) - count :]

    def _few(self, count: int) -> None:
        """Lost where there cannot be so many axes: what is asked for is no place of a tensor."""
        if count > MOST_AXES:
            self.lost("more axes than a tensor can have")

    def leading(self, tensor: Tensor) -> tuple[tuple[Axis | Run, ...], Axis | None]:
        """What stands before the last axis, and the last axis; None for one that cannot be told from those before.

        A tensor without axes is a "wrong-rank" conflict, and the end.
        """
        shape = self.shape(tensor)
        if shape.run is None or shape.suffix or len(shape.prefix) < 2:
            (last,) = self.suffix(tensor, 1)
            return self.shape(tensor).items[:-1], last
        # Of (a, b, *r) the last is b or in r: before it stands a, and as many axes more as r has.
        run, rest = shape.items[shape.run], Run()
        assert isinstance(run, Run)
        self.sizes.relate_ranks(rest, run, 0)
        return (*shape.prefix[:-1], rest), None

    def prefix(self, tensor: Tensor, count: int) -> tuple[Axis, ...]:
        """The first `count` axes; where nothing is known of the shape, that they exist is learnt.

        Lost where an unknown run stands among them; "wrong-rank" where there are fewer.
        """
        shape = self.shape(tensor)
        if shape.run is None:
            if len(shape.items) < count:
                self.fail("wrong-rank", [tensor], wanted=f"at least {count}", got=str(len(shape.items)))
            return shape.axes[:count]
        missing = count - len(shape.prefix)
        if missing > 0 and self._is_all(shape, count):
            return self.axes(tensor)
        if missing > 0:
            if len(shape.suffix) > 1 or (shape.suffix and count > 1):
                self.lost("rank unknown")
            self._few(count)
            run = shape.items[shape.run]
            assert isinstance(run, Run)
            new = tuple(Axis(self.sizes.fresh(line=self.line)) for _ in range(missing))
            self.sizes.bind_run(run, (*new, *run.without(missing)))
            shape = self.shape(tensor)
        return shape.prefix[:count]

    def locate(self, tensor: Tensor, dim: int, *, new: bool = False) -> int:
        """The position of axis `dim` in ``shape(tensor).items``, also of a tensor of unknown rank where it can be said.

        new: count the positions between axes too, as for ``unsqueeze`` and ``stack``. An axis that does not exist is
        an "axis-out-of-range" conflict, and the end.
        """
        shape = self.shape(tensor)
        run = shape.run
        if run is None:
            rank = len(shape.items) + new
            if not -max(rank, 1) <= dim < max(rank, 1):
                self.fail("axis-out-of-range", [tensor], axis=str(dim), rank=str(len(shape.items)))
            return dim % rank if rank else 0
        if dim >= 0:
            self.prefix(tensor, dim + (not new))
            return dim
        before = -dim - new
        if before > len(shape.suffix):
            self.suffix(tensor, before)
            shape = self.shape(tensor)
        return len(shape.items) + dim + new

    # -- shapes out

    def tensor(
        self,
        shape: Shape | Sequence[Axis | Run],
        like: Tensor | None = None,
        *,
        kind: Kind | None = None,
        order: Order = None,
    ) -> Tensor:
        """A new tensor of this shape, of the library and kind of `like`; its axes are told apart."""
        items = shape if isinstance(shape, Shape) else Shape(tuple(shape))
        result = Tensor(_distinct(items))
        if like is not None:
            result.kind, result.library = like.kind, like.library
        if kind is not None:
            result.kind = kind
        result.order = order
        return result

    def unknown(self, like: Tensor | None = None, *, kind: Kind | None = None, more: int | None = None) -> Tensor:
        """A new tensor of unknown shape; with `more`, its rank is that of `like` and so many axes more."""
        run = Run()
        if like is not None and more is not None:
            shape = self.shape(like)
            position = shape.run
            if position is not None:
                other = shape.items[position]
                assert isinstance(other, Run)
                self.sizes.relate_ranks(run, other, len(shape.items) - 1 + more)
        return self.tensor(Shape((run,)), like, kind=kind)

    def axis(self, dim: Dim | int, *, visible: bool = False) -> Axis:
        """A new axis of this size."""
        return Axis(Dim.of(dim), visible=visible)

    def fresh(self, name: str = "") -> Axis:
        """A new axis of unknown size."""
        return Axis(self.sizes.fresh(name, line=self.line))

    def called(self, dim: Dim, name: str) -> Dim:
        """A size that nobody has named yet, under the name that a pattern gives it."""
        dim = self.sizes.resolve(dim)
        return self.sizes.called(dim, name, owner=self.sizes.function, origin=LETTER, line=self.line)

    def meet(self, a: Axis | Dim, b: Axis | Dim) -> Sameness:
        """Require two sizes to be the same; an unknown one is learnt."""
        return self.sizes.meet(a.dim if isinstance(a, Axis) else a, b.dim if isinstance(b, Axis) else b)


def _distinct(shape: Shape) -> Shape:
    """The shape with an identity of its own for every axis that another one of it could be taken for.

    The scores of self-attention have the axis of their tokens twice, once for queries and once for keys.
    """
    axes = shape.axes
    if len(axes) < 2:
        return shape
    seen: set[int] = set()
    count = 0
    for axis in axes:
        seen |= axis.ids
        count += len(axis.ids)
    if len(seen) == count:
        return shape
    twins = [a for i, a in enumerate(axes) if any(a.ids <= b.ids or b.ids <= a.ids for b in axes[:i] + axes[i + 1 :])]
    if not twins:
        return shape
    marked = tuple(
        Axis(i.dim, i.ids | {new_id()}, i.visible, i.factors) if isinstance(i, Axis) and i in twins else i
        for i in shape.items
    )
    return Shape(marked)
