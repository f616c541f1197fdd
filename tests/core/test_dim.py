"""Laws of sizes as polynomials."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.core.dim import ONE, ZERO, Dim, Sym

SYMS = [Sym(name) for name in ("B", "T", "H", "d")]
NUMBERS = st.integers(-5, 5)


@st.composite
def dims(draw: st.DrawFn) -> Dim:
    """A polynomial of up to three terms."""
    total = ZERO
    for _ in range(draw(st.integers(0, 3))):
        term = Dim.of(draw(NUMBERS))
        for sym in draw(st.lists(st.sampled_from(SYMS), max_size=3)):
            term = term * Dim.of(sym)
        total = total + term
    return total


VALUES = st.fixed_dictionaries({sym: st.integers(1, 7) for sym in SYMS})


def number(dim: Dim, values: Mapping[Sym, int]) -> int:
    """What a dim is for these sizes."""
    total = 0
    for monomial, coefficient in dim:
        for sym in monomial:
            coefficient *= values[sym]
        total += coefficient
    return total


@given(dims(), dims(), dims())
def test_is_a_commutative_ring(a: Dim, b: Dim, c: Dim) -> None:
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a + ZERO == a
    assert a * ONE == a
    assert a - a == ZERO
    assert (-a) + a == ZERO


@given(dims(), dims(), VALUES)
def test_calculates_as_numbers_do(a: Dim, b: Dim, values: dict[Sym, int]) -> None:
    assert number(a + b, values) == number(a, values) + number(b, values)
    assert number(a - b, values) == number(a, values) - number(b, values)
    assert number(a * b, values) == number(a, values) * number(b, values)


@given(dims(), NUMBERS)
def test_takes_numbers_on_either_side(a: Dim, n: int) -> None:
    assert a + n == n + a == a + Dim.of(n)
    assert a * n == n * a == a * Dim.of(n)
    assert n - a == Dim.of(n) - a


@given(dims(), dims())
def test_equal_dims_have_equal_hashes(a: Dim, b: Dim) -> None:
    left, right = (a + b) * (a - b), a * a - b * b
    assert left == right
    assert hash(left) == hash(right)
    assert left.terms == right.terms


@given(dims(), dims())
def test_division_undoes_multiplication(a: Dim, b: Dim) -> None:
    if b == ZERO:
        assert (a * b).divide(b) is None
    else:
        assert (a * b).divide(b) == a


@given(dims(), dims())
def test_a_quotient_is_exact(a: Dim, b: Dim) -> None:
    quotient = a.divide(b)
    assert quotient is None or quotient * b == a


def test_divides_by_sums() -> None:
    t, h = Dim.of(SYMS[1]), Dim.of(SYMS[2])
    assert (t * t - 1).divide(t + 1) == t - 1
    assert (t * h + h).divide(t + 1) == h
    assert (t * h + 1).divide(t + 1) is None
    assert (2 * t).divide(4) is None


@given(dims(), st.dictionaries(st.sampled_from(SYMS[:2]), st.integers(1, 7), min_size=2, max_size=2), VALUES)
def test_substitution_keeps_the_number(a: Dim, known: dict[Sym, int], values: dict[Sym, int]) -> None:
    put_in = a.substitute({sym: Dim.of(n) for sym, n in known.items()})
    assert put_in.syms.isdisjoint(known)
    assert number(put_in, values) == number(a, values | known)


def test_substitution_follows_chains() -> None:
    b, t, h, d = (Dim.of(s) for s in SYMS)
    assert (b * 2).substitute({SYMS[0]: t * h, SYMS[1]: d + 1}) == 2 * d * h + 2 * h


def test_knows_what_it_is() -> None:
    t = SYMS[1]
    dim = Dim.of(t)
    assert dim.sym is t
    assert (dim + 1).sym is None
    assert (2 * dim).sym is None
    assert Dim.of(7).const == 7
    assert ZERO.const == 0
    assert dim.const is None
    assert dim == Dim.of(dim)
    assert Dim.of(3) == 3
    assert dim != 3


def test_value_needs_every_number() -> None:
    known, unknown = Sym("B", value=3), Sym("T")
    assert (Dim.of(known) * 2 + 1).value == 7
    assert (Dim.of(known) * Dim.of(unknown)).value is None


def test_named_needs_every_name() -> None:
    named, nameless = Dim.of(Sym("B")), Dim.of(Sym())
    assert named.named
    assert not nameless.named
    assert not (named + nameless).named
    assert not Dim.of(3).named


def test_one_signed_is_never_zero() -> None:
    t = Dim.of(SYMS[1])
    assert (t + 1).one_signed
    assert (-t - 1).one_signed
    assert not (t - 1).one_signed
    assert not ZERO.one_signed


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda b, h, d: b * 0, "0"),
        (lambda b, h, d: h * d, "H*d"),
        (lambda b, h, d: 2 * d, "2*d"),
        (lambda b, h, d: d + 1, "d + 1"),
        (lambda b, h, d: d - 1, "d - 1"),
        (lambda b, h, d: 1 - d, "-d + 1"),
        (lambda b, h, d: h * d + b, "H*d + B"),
    ],
)
def test_shows_as_people_write(build: Callable[[Dim, Dim, Dim], Dim], text: str) -> None:
    assert str(build(Dim.of(SYMS[0]), Dim.of(SYMS[2]), Dim.of(SYMS[3]))) == text


def test_shows_a_quotient_as_a_factor() -> None:
    quotient = Dim.of(Sym("d//H"))
    assert str(quotient) == "d//H"
    assert str(2 * quotient) == "2*(d//H)"
    assert str(quotient + 1) == "d//H + 1"
    assert str(Dim.of(Sym()) + 1) == "? + 1"
