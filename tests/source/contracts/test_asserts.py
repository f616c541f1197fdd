"""Facts of asserts."""

from __future__ import annotations

import pytest

from shapedoc.source.contracts.asserts import (
    AssertedFact,
    AxisIs,
    Divides,
    RankIs,
    SameShape,
    SameSize,
    ShapeIs,
    read_assert,
)
from shapedoc.source.ir import Assert, Attribute, BinOp, Const, Expr, ExprStmt, If, Name, Starred, UnaryOp
from shapedoc.source.lower_ast import lower


def shown(node: Expr) -> str:
    match node:
        case Name(id=name):
            return name
        case Const(value=value):
            return repr(value)
        case Attribute(value=value, attr=attr):
            return f"{shown(value)}.{attr}"
        case BinOp(op=op, left=left, right=right):
            return f"{shown(left)} {op} {shown(right)}"
        case Starred(value=value):
            return f"*{shown(value)}"
        case UnaryOp(op=op, operand=operand):
            return f"{op}{shown(operand)}"
        case _:
            return type(node).__name__


def fact(found: AssertedFact) -> str:
    match found:
        case ShapeIs(tensor=tensor, dims=dims, start=start, open_end=open_end):
            inner = ", ".join(map(shown, dims))
            return f"{shown(tensor)}[{start}:{'..' if open_end else ''}] is ({inner})"
        case AxisIs(tensor=tensor, axis=axis, size=size):
            return f"{shown(tensor)}[{axis}] is {shown(size)}"
        case RankIs(tensor=tensor, ranks=ranks):
            return f"rank {shown(tensor)} in {ranks}"
        case SameShape(left=left, right=right, start=start, stop=stop):
            return f"{shown(left)} like {shown(right)} {start}:{stop}"
        case Divides(whole=whole, part=part):
            return f"{shown(part)} divides {shown(whole)}"
        case SameSize(left=left, right=right):
            return f"{shown(left)} == {shown(right)}"


def facts(test: str, *, holds: bool = True) -> list[str]:
    (stmt,) = lower(f"assert {test}").body
    assert isinstance(stmt, Assert)
    return [fact(f) for f in read_assert(stmt.test, holds=holds)]


READ = {
    "x.shape == (B, T, C)": ["x[0:] is (B, T, C)"],
    "(B, T) == x.shape": ["x[0:] is (B, T)"],
    "x.size() == (B, 4)": ["x[0:] is (B, 4)"],
    "list(x.shape) == [B, T]": ["x[0:] is (B, T)"],
    "tuple(x.size()) == (B, T)": ["x[0:] is (B, T)"],
    "x.shape == torch.Size([B, T])": ["x[0:] is (B, T)"],
    "x.shape == torch.Size((B, T))": ["x[0:] is (B, T)"],
    "np.shape(x) == (n, d)": ["x[0:] is (n, d)"],
    "x.shape == (B, *rest)": ["x[0:] is (B, *rest)"],
    "self.w.shape == (d, k)": ["self.w[0:] is (d, k)"],
    "x.shape[1:] == (T, d)": ["x[1:] is (T, d)"],
    "x.shape[-2:] == (T, d)": ["x[-2:] is (T, d)"],
    "x.shape[:2] == (B, T)": ["x[0:..] is (B, T)"],
    "x.shape[1:3] == (T, H)": ["x[1:..] is (T, H)"],
    "x.size(0) == n": ["x[0] is n"],
    "x.size(dim=-1) == n": ["x[-1] is n"],
    "x.shape[-1] == self.dim": ["x[-1] is self.dim"],
    "x.size()[2] == 3": ["x[2] is 3"],
    "n == x.shape[0]": ["x[0] is n"],
    "x.ndim == 3": ["rank x in (3,)"],
    "x.dim() == 3": ["rank x in (3,)"],
    "len(x.shape) == 3": ["rank x in (3,)"],
    "len(x.size()) == 2": ["rank x in (2,)"],
    "3 == x.ndim": ["rank x in (3,)"],
    "x.ndim in (2, 3)": ["rank x in (2, 3)"],
    "x.shape == y.shape": ["x like y None:None"],
    "x.size() == y.size()": ["x like y None:None"],
    "x.shape[:2] == y.shape[:2]": ["x like y None:2"],
    "d_model % n_heads == 0": ["n_heads divides d_model"],
    "0 == d % h": ["h divides d"],
    "not d % h != 0": ["h divides d"],
    "d_model == n_heads * d_head": ["d_model == n_heads * d_head"],
    "x.ndim == 3 and x.shape[0] == B": ["rank x in (3,)", "x[0] is B"],
    "x.shape[0] == y.shape[0] == B": ["x[0] is Subscript", "y[0] is B"],
    "all([x.ndim == 2, y.ndim == 3])": ["rank x in (2,)", "rank y in (3,)"],
}


@pytest.mark.parametrize("test", READ)
def test_a_fact_is_read(test: str) -> None:
    assert facts(test) == READ[test]


@pytest.mark.parametrize(
    "test",
    [
        "x.shape != (B, T)",
        "x.ndim > 2",
        "x.ndim == 2 or x.ndim == 3",
        "isinstance(x, Tensor)",
        "torch.allclose(x, y)",
        "mode == 'train'",
        "x.shape[i] == n or flag",
        "x.shape[1:] == y.shape[:-1]",
        "x.shape[::2] == (B, T)",
        "x.shape[:n] == (B, T)",
        "not x.ndim == 3",
        "x.shape",
        "x is not None",
        "name == f()",
    ],
)
def test_what_says_nothing(test: str) -> None:
    assert facts(test) == []


def test_a_refusal_says_the_opposite() -> None:
    (stmt,) = lower("if x.ndim != 3 or d % h != 0:\n    raise ValueError\n").body
    assert isinstance(stmt, If)
    assert [fact(f) for f in read_assert(stmt.test, holds=False)] == ["rank x in (3,)", "h divides d"]
    assert facts("x.ndim == 3", holds=False) == []
    assert facts("x.ndim not in (2, 3)", holds=False) == ["rank x in (2, 3)"]


def test_calls_that_assert() -> None:
    for text, wanted in {
        "self.assertEqual(x.shape, (2, 3))": ["x[0:] is (2, 3)"],
        "self.assertEqual(list(x.size()), [B, T])": ["x[0:] is (B, T)"],
        "chex.assert_shape(x, (B, None))": [],
        "chex.assert_shape(x, (B, 3))": ["x[0:] is (B, 3)"],
        "chex.assert_rank(x, 3)": ["rank x in (3,)"],
        "chex.assert_rank([x, y], 3)": [],
    }.items():
        (stmt,) = lower(text).body
        assert isinstance(stmt, ExprStmt)
        assert [fact(f) for f in read_assert(stmt.value)] == wanted, text
