"""The text of a size, and the laws of its reading."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapedoc.core.dim import Dim, Sym
from shapedoc.source.contracts.dimension import parse_dim, parse_dims
from shapedoc.source.contracts.evaluate import to_dim
from shapedoc.source.contracts.stated import (
    Anonymous,
    Difference,
    DimExpr,
    Named,
    Number,
    Product,
    Quotient,
    Rest,
    Sum,
    show_dims,
)

B, H, K, T = (Named(n) for n in "BHKT")

READ: dict[str, DimExpr] = {
    "B": B,
    "batch size": Named("batch size"),
    "T'": Named("T'"),
    "3": Number(3),
    "2H": Product((Number(2), H)),
    "2 * H": Product((Number(2), H)),
    "B*T*H": Product((B, T, H)),
    "n x n": Product((Named("n"), Named("n"))),
    "n^2": Product((Named("n"), Named("n"))),
    "n**2": Product((Named("n"), Named("n"))),
    "H\u00d7K": Product((H, K)),
    "C // h": Quotient(Named("C"), Named("h")),
    "D/2": Quotient(Named("D"), Number(2)),
    "S/T": Anonymous("S/T"),
    "T+(K-1)": Sum((T, Difference(K, Number(1)))),
    "T-1": Difference(T, Number(1)),
    "2*(H+K)": Product((Number(2), Sum((H, K)))),
    "seq_len=1": Named("seq_len", Number(1)),
    "num_pixels = 49": Named("num_pixels", Number(49)),
    "len_q(=len_k)": Named("len_q", Named("len_k")),
    "num_directions(=1) * n_hidden": Product((Named("num_directions", Number(1)), Named("n_hidden"))),
    "batch size (1)": Named("batch size", Number(1)),
    "heads: 8": Named("heads", Number(8)),
    "L' = L - 1": Named("L'", Difference(Named("L"), Number(1))),
    "hidden-dim": Named("hidden-dim"),
    "self.d_model": Named("self.d_model"),
    "max(lengths)": Anonymous("max(lengths)"),
    "x.shape[1]": Anonymous("x.shape[1]"),
    "T or 1": Anonymous("T or 1"),
    "...": Rest(),
    "*": Rest(),
    "*batch": Rest("batch"),
    "_": Anonymous("_"),
    "?": Anonymous("?"),
    "-1": Anonymous("-1"),
}


@pytest.mark.parametrize("text", READ)
def test_a_size_is_read(text: str) -> None:
    assert parse_dim(text) == READ[text]


@pytest.mark.parametrize(
    "text",
    ["", " ", "0.5", "1e-3", "a <= b", "'a'", "$x$", "a % b", "e.g. this", "a +", "* 2", "(a", "a)", "a; b", "a = = ",
     "one two three four five six", "x" * 200, "\\alpha", "{a}", "007"],
)  # fmt: skip
def test_what_is_no_size_is_not_read(text: str) -> None:
    assert parse_dim(text) is None


def test_lists() -> None:
    assert parse_dims("B, T,") == (B, T)
    assert parse_dims("") == ()
    assert parse_dims("B, max(a, b), T") == (B, Anonymous("max(a, b)"), T)
    assert parse_dims("B\uff0cT") == (B, T)
    assert parse_dims("..., T, ...") is None
    assert parse_dims("B,, T") is None
    assert show_dims((B,)) == "(B,)"


@pytest.mark.parametrize("counted", ["d1, ..., dM", "d_1, ..., d_k", "x1, \u2026, xn"])
def test_axes_that_are_counted_may_be_one(counted: str) -> None:
    assert parse_dims(f"B, {counted}") == parse_dims("B, ...")


def test_other_names_around_a_run_are_axes() -> None:
    assert parse_dims("B, h1, ..., w") == (B, Named("h1"), Rest(), Named("w"))
    assert parse_dims("d1, dM") == (Named("d1"), Named("dM"))


def test_the_key_of_a_name_is_an_identifier() -> None:
    assert [Named(n).key for n in ("batch size", "self.d_model", "hidden-dim", "T")] == [
        "batch_size",
        "d_model",
        "hidden_dim",
        "T",
    ]


QUIET = settings(deadline=None, max_examples=60)
names = st.sampled_from(["B", "T", "d_model", "n heads", "batch size", "T'"]).map(Named)
atoms = st.one_of(names, st.integers(1, 99).map(Number))


def compound(inner: st.SearchStrategy[DimExpr]) -> st.SearchStrategy[DimExpr]:
    """Sums, products and quotients of sizes that are none of the same kind themselves."""
    factors = st.lists(inner.filter(lambda d: not isinstance(d, Product)), min_size=2, max_size=3)
    terms = st.lists(inner.filter(lambda d: not isinstance(d, Sum | Difference)), min_size=2, max_size=3)
    simple = inner.filter(lambda d: not isinstance(d, Sum | Difference))
    return st.one_of(
        factors.map(lambda p: Product(tuple(p))),
        terms.map(lambda p: Sum(tuple(p))),
        st.tuples(simple, inner).map(lambda p: Difference(*p)),
        st.tuples(inner.filter(lambda d: not isinstance(d, Product)), inner).map(lambda p: Quotient(*p)),
    )


sizes: st.SearchStrategy[DimExpr] = st.recursive(atoms, compound, max_leaves=5)
KNOWN = {n: Dim.of(Sym(n)) for n in ("B", "T", "d_model", "n_heads", "batch_size", "T'")}


def dim(size: DimExpr) -> Dim | None:
    return to_dim(size, lambda n: KNOWN.get(n.key), lambda a, b: a.divide(b))


@QUIET
@given(sizes)
def test_what_is_printed_means_the_same_when_read_again(size: DimExpr) -> None:
    text = str(size)
    if len(text) > 80:
        return
    again = parse_dim(text)
    assert again is not None
    if isinstance(size, Number | Named):
        assert again == size
    assert dim(again) == dim(size)


@QUIET
@given(st.text(alphabet="BT d_mx2*+-/()[],.=:'#?", max_size=30))
def test_no_text_raises_and_blanks_around_change_nothing(text: str) -> None:
    assert parse_dim(text) == parse_dim(f"  {text} ")
    parse_dims(text)


def test_evaluation() -> None:
    assert str(dim(Sum((T, Number(1))))) == "T + 1"
    assert str(dim(Product((Number(2), B)))) == "2*B"
    assert dim(Quotient(Product((B, T)), B)) == KNOWN["T"]
    assert dim(Quotient(B, T)) is None
    assert dim(Named("unknown")) is None
    assert dim(Anonymous()) is None
    assert dim(Named("B", None, True)) is None
