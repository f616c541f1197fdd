"""Views: which axes keep their identity, which orders of elements are scrambled, and where memory forbids them."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
import torch

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Problem
from shapedoc.core.value import Int, Tensor, Value
from shapedoc.core.verdict import Conflict
from shapedoc.ops import Arguments, evaluate, find

B, T, H, D = (Dim.of(Sym(name)) for name in ("B", "T", "H", "d"))


def call(name: str, tensor: Tensor, *sizes: Dim | int) -> tuple[Tensor, tuple[Problem, ...]]:
    """The result of an op, and what it reports."""
    op = find(name)
    assert op is not None
    arguments: list[Value] = [tensor, *(Int(Dim.of(s)) for s in sizes)]
    verdict = evaluate(op, Arguments(arguments, {}), Sizes()).verdict
    assert isinstance(verdict.value, Tensor)
    return verdict.value, verdict.problems if isinstance(verdict, Conflict) else ()


def view(tensor: Tensor, *sizes: Dim | int) -> tuple[Tensor, tuple[Problem, ...]]:
    return call("torch.Tensor.view", tensor, *sizes)


def axes(tensor: Tensor) -> tuple[Axis, ...]:
    assert tensor.shape.rank is not None
    return tensor.shape.axes


def test_axes_that_are_kept_whole_keep_their_identity() -> None:
    x = Tensor(Shape.of(B, T, H * D))
    heads, problems = view(x, B, T, H, D)
    assert not problems
    assert [a.same(b) for a, b in zip(axes(heads), axes(x), strict=False)] == [True, True, False]


def test_joined_axes_remember_their_factors() -> None:
    x = Tensor(Shape.of(B, T, H, D))
    merged, _ = view(x, B, T, -1)
    assert str(merged.shape) == "(B, T, H*d)"
    assert [f.same(a) for f, a in zip(axes(merged)[2].factors, axes(x)[2:], strict=True)] == [True, True]
    again, _ = view(merged, B, T, H, D)
    assert all(a.same(b) for a, b in zip(axes(again), axes(x), strict=True))


def test_a_factor_comes_back_from_a_longer_product() -> None:
    x = Tensor(Shape.of(B, H, T, D))
    flat, _ = view(x, B * H, T, D)
    split, problems = view(flat, B, H, T * D)
    assert not problems
    assert axes(split)[0].same(axes(x)[0])
    assert axes(split)[1].same(axes(x)[1])


@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        ((B, T, H * D), (B, T, H, D), None),
        ((B, T, H * D), (B, H, T, D), ("T", "H")),
        ((B, H, T, D), (B, T, H * D), ("H", "T")),
        ((B * H, D), (B, H * D), None),
        ((B, T, D), (T, B, D), ("B", "T")),
        ((B, T, D), (B * T, D), None),
        ((B, T, D), (B, T, 1, D), None),
        ((B, 1, T), (B * T,), None),
        ((2, 5, 32), (2, 4, 5, 8), ("5", "4")),
        ((2, 5, 32), (2, 5, 4, 8), None),
        ((T, T), (T * T,), None),
    ],
)
def test_order_is_kept_where_running_products_form_one_chain(
    old: tuple[Dim | int, ...], new: tuple[Dim | int, ...], broken: tuple[str, str] | None
) -> None:
    result, problems = view(Tensor(Shape.of(*old)), *new)
    assert [a.dim for a in axes(result)] == [Dim.of(n) for n in new]
    if broken is None:
        assert not problems
    else:
        (problem,) = problems
        assert (problem.kind, problem.loud, problem.sizes) == ("scrambled-view", False, broken)


def test_a_product_is_split_in_the_order_of_its_factors() -> None:
    joined, _ = view(Tensor(Shape.of(B, H, T)), B * H, T)
    assert not view(joined, B, H, T)[1]
    assert view(joined, H, B, T)[1][0].kind == "scrambled-view"


def test_silent_where_numbers_of_elements_are_not_proved_equal() -> None:
    n, m = (Dim.of(Sym(flexible=True)) for _ in range(2))
    assert not view(Tensor(Shape.of(B, n, m)), B, H, T, D)[1]


def test_a_view_that_works_says_what_an_unknown_size_is() -> None:
    n = Dim.of(Sym("n", flexible=True))
    _, (problem,) = view(Tensor(Shape.of(B, T, n)), B, H, T, D)
    assert problem.kind == "scrambled-view"


def test_numbers_of_elements_that_cannot_agree() -> None:
    _, problems = view(Tensor(Shape.of(2, 3)), 4, 2)
    assert [(p.kind, p.loud, p.sizes) for p in problems] == [("impossible-view", True, ("6", "8"))]
    assert view(Tensor(Shape.of(2, 3)), 4, -1)[1][0].kind == "impossible-view"


def test_a_missing_size_is_worked_out() -> None:
    assert str(view(Tensor(Shape.of(B, T, H * D)), B, -1, H, D)[0].shape) == "(B, T, H, d)"
    assert str(view(Tensor(Shape.of(B, T, D)), -1, D)[0].shape) == "(B*T, d)"
    assert str(view(Tensor(Shape.of(B, T, D)), B, T, H, -1)[0].shape) == "(B, T, H, d//H)"


def test_a_view_after_a_transpose() -> None:
    scores, _ = call("torch.transpose", Tensor(Shape.of(B, H, T, D)), 1, 2)
    assert scores.order == (0, 2, 1, 3)
    _, problems = view(scores, B, T, H * D)
    assert [(p.kind, p.loud, p.axes) for p in problems] == [("view-after-transpose", True, (2, 3))]
    whole, _ = call("torch.Tensor.contiguous", scores)
    assert not view(whole, B, T, H * D)[1]
    assert not call("torch.Tensor.reshape", scores, B, T, H * D)[1]


STEPS = ("transpose", "unsqueeze", "squeeze", "relu", "mul", "permute", "contiguous", "view")


@pytest.mark.parametrize("seed", range(60))
def test_memory_is_where_torch_has_it(seed: int) -> None:
    """Along a chain of ops, a view is forbidden exactly where torch forbids it."""
    random = Random(seed)
    real = torch.ones(random.choices([2, 3, 4], k=3))
    ours = Tensor(Shape.of(*real.shape))
    for _ in range(6):
        step = random.choice(STEPS)
        rank = real.dim()
        arguments: list[int] = []
        match step:
            case "transpose":
                arguments = [random.randrange(rank), random.randrange(rank)]
            case "unsqueeze":
                arguments = [random.randrange(rank + 1)]
            case "squeeze":
                arguments = [random.randrange(rank)]
            case "permute":
                arguments = list(random.choice(list(permutations(range(rank)))))
            case "mul":
                arguments = [2]
            case "view":
                start = random.randrange(rank)
                joined = list(real.shape)
                joined[start : start + 2] = [int(torch.tensor(joined[start : start + 2]).prod())]
                arguments = joined
            case _:
                pass
        ours, problems = call(f"torch.Tensor.{step}", ours, *arguments)
        try:
            real = getattr(real, step)(*arguments)
        except RuntimeError:
            assert [p.kind for p in problems] == ["view-after-transpose"], f"{step} {arguments} of order {ours.order}"
            return
        assert not problems, f"{step} {arguments}: {problems}"
        assert tuple(real.shape) == tuple(a.dim.const for a in axes(ours))
