"""The words before a list, however they are written."""

from __future__ import annotations

from time import process_time

import pytest

from shapedoc.source.contracts.prefix import read_prefix


@pytest.mark.parametrize(
    "text",
    [
        f"gt = gt[mask]{' ' * 26}# ",
        f"x{' ' * 4000}is ",
        "shape," * 400,
        "Tensor" * 400,
        "x is " * 800,
        f"{'-' * 2000}> ",
        f"{'a of ' * 400}#",
    ],
    ids=["blanks before a hash", "many blanks", "a list of words", "one long word", "links", "dashes", "owners"],
)
def test_no_words_take_long(text: str) -> None:
    started = process_time()
    read_prefix(text)
    assert process_time() - started < 0.5


def test_blanks_do_not_count() -> None:
    assert read_prefix("the hidden  state   is ") == read_prefix("the hidden state is ")


def test_what_stands_far_before_says_nothing() -> None:
    near = read_prefix("scores: ")
    far = read_prefix(f"{'so that it fits ' * 20}scores: ")
    assert near is not None
    assert far is not None
    assert (near.names, far.names) == (("scores",), ("scores",))
    assert read_prefix("x" * 400) is None
