"""The prompts that ship with the tool."""

from __future__ import annotations

import re

import pytest

import shapedoc
from shapedoc.core.prompts import prompt_names, prompt_text


def test_the_attention_prompt_is_there_and_says_what_it_is() -> None:
    text = prompt_text("attention-shapes")
    front = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert front is not None
    keys = [line.split(":")[0] for line in front[1].splitlines() if not line.startswith(" ")]
    assert keys == ["name", "description", "version", "inputs"]
    assert "name: attention-shapes" in front[1]


def test_every_input_of_a_prompt_has_its_place_in_the_text() -> None:
    for name in prompt_names():
        front, _, body = prompt_text(name).removeprefix("---\n").partition("\n---\n")
        inputs = re.findall(r"^  (\w+):", front.partition("inputs:")[2], re.MULTILINE)
        assert inputs
        assert sorted(set(re.findall(r"\{(\w+)\}", body))) == sorted(inputs)


def test_the_prompt_knows_the_sizes_and_both_papers() -> None:
    text = prompt_text("attention-shapes")
    for word in ("d_s", "d_h", "d_attn", "T_enc", "T_dec", "batch_size", "s_{t-1}", "s_t", "Bahdanau", "Luong"):
        assert word in text


def test_the_prompt_asks_for_a_test_of_shapes_and_weights() -> None:
    text = prompt_text("attention-shapes")
    for line in (
        "assert output.shape == (batch_size, T_dec, d_h)",
        "assert weights.shape == (batch_size, T_dec, T_enc)",
        "weights.sum(dim=-1)",
        "usual first mistake",
        "broadcasting silently",
        "a transpose, a reshape, a projection",
    ):
        assert line in text


def test_an_unknown_prompt_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(LookupError, match=r"no prompt is called 'attention'; there are: .*attention-shapes"):
        prompt_text("attention")


def test_public_names_load_lazily() -> None:
    assert shapedoc.prompt_text is prompt_text
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = shapedoc.nothing
