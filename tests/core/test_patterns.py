"""Patterns of einsum and einops, read as the libraries read them."""

from __future__ import annotations

from typing import Literal

import pytest

from shapedoc.core.patterns import PatternError, Term, einops, einops_einsum, einops_side, einsum


def test_einsum_names_axes() -> None:
    pattern = einsum("bqd, bkd -> bqk")
    assert pattern.inputs == (("b", "q", "d"), ("b", "k", "d"))
    assert pattern.output == ("b", "q", "k")
    assert pattern.summed == ("d",)
    assert not pattern.implicit


def test_einsum_without_arrow_keeps_single_letters_in_order() -> None:
    assert einsum("kj,ji").output == ("i", "k")
    assert einsum("ba").output == ("a", "b")
    assert einsum("ii").output == ()
    assert einsum("...ij,...jk").output == ("...", "i", "k")


def test_einsum_sees_diagonals() -> None:
    assert einsum("bii->b").repeated == (frozenset("i"),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ij->iz", "has `z` in its result and in no operand"),
        ("ij->ii", "has `i` twice in the result"),
        ("i1->i", "has `1`, which is no letter"),
        ("i..j->i", "has `.`, which is no letter"),
    ],
)
def test_einsum_refuses(text: str, reason: str) -> None:
    with pytest.raises(PatternError) as raised:
        einsum(text)
    assert raised.value.reason == reason


def test_einops_groups_axes() -> None:
    pattern = einops("b t (h d) -> (b h) t d", "rearrange")
    assert pattern.left == (Term(("b",)), Term(("t",)), Term(("h", "d"), grouped=True))
    assert pattern.right_names == ("b", "h", "t", "d")


def test_einops_knows_ones_and_ellipses() -> None:
    assert einops_side("b 1 () ...") == (Term(("b",)), Term(()), Term((), grouped=True), Term(("...",)))
    assert einops_side("b 1")[1].is_one
    assert einops_side("...")[0].is_ellipsis
    assert einops_side("b * d", star=True)[1] == Term(("*",))


@pytest.mark.parametrize(
    ("text", "operation", "reason"),
    [
        ("b t d", "rearrange", "needs one `->`"),
        ("b t -> b d", "rearrange", "has `d`, `t` on one side only"),
        ("b 3 -> b", "rearrange", "has a number other than 1"),
        ("b t -> b t d", "reduce", "has `d` on its right side only"),
        ("b t d -> b t", "repeat", "has `d` on its left side only"),
        ("b b -> b", "reduce", "has `b` twice in one side"),
        ("(b (t d)) -> b t d", "rearrange", "has parentheses in parentheses"),
        ("b t) -> b t", "rearrange", "closes a parenthesis that is not open"),
        ("(b t -> b t", "rearrange", "leaves a parenthesis open"),
        ("b- -> b-", "rearrange", "has `b-`, which is no axis name"),
        ("_b -> _b", "rearrange", "has `_b`, which is no axis name"),
        ("(... d) -> ... d", "rearrange", "has an ellipsis in parentheses on its left side"),
    ],
)
def test_einops_refuses(text: str, operation: Literal["rearrange", "reduce", "repeat"], reason: str) -> None:
    with pytest.raises(PatternError) as raised:
        einops(text, operation)
    assert raised.value.reason == reason


def test_einops_repeat_may_add_axes() -> None:
    assert einops("b d -> b t d", "repeat").right_names == ("b", "t", "d")
    assert einops("b d -> b 2 d", "repeat").right_names == ("b", "2", "d")


def test_einops_einsum_has_words() -> None:
    pattern = einops_einsum("batch q dim, batch k dim -> batch q k")
    assert pattern.inputs[0] == ("batch", "q", "dim")
    assert pattern.summed == ("dim",)
    with pytest.raises(PatternError):
        einops_einsum("b q d, b k d")
    with pytest.raises(PatternError):
        einops_einsum("b (q d) -> b q")
