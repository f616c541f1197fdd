"""Numbers that are made of sizes: scales, head widths, quotients."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Bool, Float, Int
from shapedoc.infer.numbers import arithmetic, as_float, compare, negate, square_root

D = Dim.of(Sym("d"))
H = Dim.of(Sym("h"))


def test_one_over_a_square_root_is_a_power() -> None:
    scale = arithmetic("/", Float(1.0, known=True), square_root(Int(D)), Sizes())
    assert scale == Float(1.0, ((D, Fraction(-1, 2)),), known=True)


def test_the_power_spelling_is_the_same_number() -> None:
    root = arithmetic("/", Int(Dim.of(1)), square_root(Int(D)), Sizes())
    power = arithmetic("**", Int(D), Float(-0.5, known=True), Sizes())
    assert root == power


def test_a_quotient_times_its_divisor_is_the_whole() -> None:
    sizes = Sizes()
    quotient = arithmetic("//", Int(D), Int(H), sizes)
    assert isinstance(quotient, Int)
    whole = arithmetic("*", quotient, Int(H), sizes)
    assert isinstance(whole, Int)
    assert sizes.resolve(whole.dim) == sizes.resolve(D)
    assert sizes.show(whole.dim) == "d"


def test_a_quotient_that_does_not_divide_is_no_factor() -> None:
    sizes = Sizes()
    width, heads = Dim.of(Sym("width", value=512)), Dim.of(Sym("heads", value=10))
    quotient = arithmetic("//", Int(width), Int(heads), sizes)
    assert isinstance(quotient, Int)
    assert quotient.dim.value == 51
    assert sizes.resolve(width) == width


@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from(("+", "-", "*", "//", "%")))
def test_literals_are_computed(a: int, b: int, op: str) -> None:
    if op in ("//", "%") and b <= 0:
        return
    got = arithmetic(op, Int(Dim.of(a)), Int(Dim.of(b)), Sizes())
    wanted = {"+": a + b, "-": a - b, "*": a * b, "//": a // b if b else 0, "%": a % b if b else 0}[op]
    assert isinstance(got, Int)
    assert got.dim.const == wanted


@given(st.integers(1, 99), st.integers(1, 99), st.sampled_from(("==", "!=", "<", "<=", ">", ">=")))
def test_literals_are_compared(a: int, b: int, op: str) -> None:
    wanted = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
    assert compare(op, Int(Dim.of(a)), Int(Dim.of(b)), Sizes()) == Bool(wanted)


def test_two_names_are_not_compared() -> None:
    assert compare("==", Int(D), Int(H), Sizes()) == Bool(None)
    assert compare("==", Int(D), Int(D), Sizes()) == Bool(True)


def test_what_is_not_known_stays_unknown() -> None:
    assert arithmetic("*", Float(), Int(D), Sizes()) == Float()
    assert negate(Float()) == Float()
    assert as_float(Int(Dim.of(4))) == Float(4.0, known=True)


def test_what_is_not_finite_is_no_exponent() -> None:
    for number in (float("inf"), float("-inf"), float("nan")):
        assert arithmetic("**", as_float(Int(D)), Float(number, known=True), Sizes()) == Float()
