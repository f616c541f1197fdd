"""Axes and shapes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shapedoc.core.dim import ONE, Dim, Sym
from shapedoc.core.shape import Axis, Run, Shape

AXES = st.lists(st.integers(1, 9).map(lambda n: Axis(Dim.of(n))), max_size=4)


@given(AXES, AXES)
def test_a_run_parts_a_shape(before: list[Axis], after: list[Axis]) -> None:
    shape = Shape((*before, Run(), *after))
    assert shape.rank is None
    assert shape.run == len(before)
    assert list(shape.prefix) == before
    assert list(shape.suffix) == after
    assert list(shape.axes) == before + after
    assert shape.is_unknown is (not before and not after)


@given(AXES)
def test_without_a_run_all_axes_are_both_ends(axes: list[Axis]) -> None:
    shape = Shape(tuple(axes))
    assert shape.rank == len(axes)
    assert shape.run is None
    assert list(shape.prefix) == list(shape.suffix) == axes


def test_an_axis_is_itself_whatever_its_size() -> None:
    axis = Axis(Dim.of(Sym("T")))
    assert axis.same(axis.sized(Dim.of(4)))
    assert not axis.same(Axis(axis.dim))


def test_merged_answers_to_both() -> None:
    a, b = Axis(Dim.of(4)), Axis(Dim.of(4))
    merged = a.merged(b)
    assert merged.same(a)
    assert merged.same(b)
    assert merged.dim == a.dim
    assert a.merged(a) is a


def test_merging_for_ever_does_not_grow_for_ever() -> None:
    axis = Axis(Dim.of(4))
    for _ in range(100):
        axis = axis.merged(Axis(Dim.of(4)))
    assert len(axis.ids) <= 24


def test_a_one_that_was_asked_for_is_visible() -> None:
    assert Axis.one().visible
    assert Axis.one().dim == ONE
    assert not Axis(ONE).visible
    assert not Axis.one().merged(Axis(ONE)).visible


def test_shows_as_tuples_do() -> None:
    d = Dim.of(Sym("d"))
    assert str(Shape.of(2, d)) == "(2, d)"
    assert str(Shape.of(d)) == "(d,)"
    assert str(Shape(())) == "()"
    assert str(Shape((Run("batch"), Axis(d)))) == "(*batch, d)"
    assert str(Shape.unknown()) == "(...,)"
