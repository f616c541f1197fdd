"""Arithmetic on numbers that may be sizes: ``d_model // n_heads``, ``1 / math.sqrt(d_k)``, ``d_k ** -0.5``."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

from shapedoc.core.dim import Dim
from shapedoc.core.sizes import Kind, Sizes
from shapedoc.core.value import Bool, Float, Int, Value

__all__ = ["arithmetic", "as_float", "compare", "negate", "square_root"]

Number = Int | Float


def as_float(value: Number) -> Float:
    """A whole number as a float: a symbolic one is a power of itself."""
    if isinstance(value, Float):
        return value
    const = value.dim.const
    if const is not None:
        return Float(float(const), known=True)
    return Float(1.0, ((value.dim, Fraction(1)),), known=True)


def arithmetic(op: str, a: Number, b: Number, sizes: Sizes, *, owner: str = "", line: int = 0) -> Value:
    """The result of ``a op b`` as Int or Float; what is not known is a Float of which nothing is known."""
    if isinstance(a, Int) and isinstance(b, Int):
        whole = _whole(op, sizes.resolve(a.dim), sizes.resolve(b.dim), sizes, owner, line)
        if whole is not None:
            return Int(whole)
    if op in ("//", "%", "<<", ">>", "&", "|", "^"):
        return Float() if isinstance(a, Float) or isinstance(b, Float) else Int(sizes.fresh(owner=owner, line=line))
    return _real(op, as_float(a), as_float(b), b)


def _whole(op: str, a: Dim, b: Dim, sizes: Sizes, owner: str, line: int) -> Dim | None:
    x, y = a.value, b.value
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return sizes.floordiv(a, b, owner=owner, line=line)
        case "%":
            if x is not None and y:
                return Dim.of(x % y)
            if b.const != 0 and a.divide(b) is not None:
                return Dim.of(0)
        case "**":
            if a.const is not None and b.const is not None and 0 <= b.const <= 64:
                return Dim.of(a.const**b.const)
            if b.const is not None and 0 <= b.const <= 6:
                power = Dim.of(1)
                for _ in range(b.const):
                    power = power * a
                return power
        case "<<" if x is not None and y is not None and 0 <= y < 64:
            return Dim.of(x << y)
        case ">>" if x is not None and y is not None and 0 <= y < 64:
            return Dim.of(x >> y)
    return None


def _real(op: str, a: Float, b: Float, right: Number) -> Float:
    if op == "**":
        return _power(a, b)
    if not (a.known and b.known):
        return Float()
    x, y = a.value, b.value
    if x is None or y is None:
        return Float()
    if op == "*":
        return Float(x * y, _times(a, b, 1), known=True)
    if op == "/":
        return Float(x / y, _times(a, b, -1), known=True) if y else Float()
    if not a.powers and not b.powers:
        if op == "+":
            return Float(x + y, known=True)
        if op == "-":
            return Float(x - y, known=True)
    return Float()


def _times(a: Float, b: Float, sign: int) -> tuple[tuple[Dim, Fraction], ...]:
    powers: dict[Dim, Fraction] = dict(a.powers)
    for dim, exponent in b.powers:
        powers[dim] = powers.get(dim, Fraction(0)) + sign * exponent
    return tuple((d, e) for d, e in powers.items() if e)


def _power(a: Float, b: Float) -> Float:
    if not (a.known and b.known) or b.powers or b.value is None or a.value is None:
        return Float()
    if not isfinite(b.value):
        return Float()
    exponent = Fraction(b.value).limit_denominator(64)
    try:
        value = float(a.value) ** float(b.value)
    except (OverflowError, ZeroDivisionError):
        return Float()
    if isinstance(value, complex):
        return Float()
    return Float(value, tuple((d, e * exponent) for d, e in a.powers), known=True)


def square_root(value: Number) -> Float:
    """``math.sqrt(value)``."""
    return _power(as_float(value), Float(0.5, known=True))


def negate(value: Number) -> Number:
    """``-value``."""
    if isinstance(value, Int):
        return Int(-value.dim)
    return Float(-value.value, value.powers, known=value.known) if value.value is not None else Float()


def compare(op: str, a: Number, b: Number, sizes: Sizes) -> Bool:
    """``a op b``, where it can be known."""
    if isinstance(a, Int) and isinstance(b, Int):
        x, y = sizes.resolve(a.dim), sizes.resolve(b.dim)
        left, right = x.value, y.value
        if left is not None and right is not None:
            return Bool(_order(op, left, right))
        if op in ("==", "!="):
            same = sizes.compare(x, y)
            if same.kind is Kind.ALWAYS:
                return Bool(op == "==")
        return Bool()
    p, q = as_float(a), as_float(b)
    if p.known and q.known and not p.powers and not q.powers and p.value is not None and q.value is not None:
        return Bool(_order(op, p.value, q.value))
    return Bool()


def _order(op: str, x: float, y: float) -> bool | None:
    match op:
        case "==":
            return x == y
        case "!=":
            return x != y
        case "<":
            return x < y
        case "<=":
            return x <= y
        case ">":
            return x > y
        case ">=":
            return x >= y
    return None
