"""Pictures are well-formed SVG that says what is wrong and needs nothing from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import shapedoc
from shapedoc.core.trace import Trace
from shapedoc.infer import analyse
from shapedoc.report.svg import Words, accuracy_curve, heat_map, plot, shape_flow
from shapedoc.rules import all_rules
from shapedoc.source import lower_ast

SVG = "{http://www.w3.org/2000/svg}"
BROKEN = """
import torch

def attend(query, memory):
    B, T_dec, d_s = query.shape
    B, T_enc, d_h = memory.shape
    scores = query @ memory
    return torch.softmax(scores, dim=-1) @ memory
"""
SILENT = """
import torch

def attend(query, key, value):
    B, T_dec, d = query.shape
    B, T_enc, d = key.shape
    B, T_enc, d_v = value.shape
    weights = torch.softmax(query @ key.transpose(1, 2), dim=1)
    return weights @ value
"""
BUILT = """
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_emb)
        self.enc = nn.GRU(d_emb, d_hidden)
        self.U = nn.Linear(d_hidden, d_hidden)

    def forward(self, source, lengths):
        H, _ = self.enc(self.emb(source))
        pad = torch.arange(source.size(1))[None] >= lengths[:, None]
        e = self.U(H).sum(-1)
        a = torch.softmax(e.masked_fill(pad, -1e9), -1)
        return (a[..., None] * H).sum(1)
"""


def trace_of(text: str) -> Trace:
    return analyse(lower_ast.lower(text), text, "model.py")


def texts(picture: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_row_for_every_operation_and_a_chip_for_every_axis() -> None:
    shown = texts(shape_flow(trace_of(SILENT)))
    assert "shape flow of attend" in shown
    assert "key.transpose(1, 2)" in shown
    assert {"B", "T_dec", "T_enc"} <= set(shown)


def test_the_first_wrong_axis_is_red_and_named() -> None:
    root = ElementTree.fromstring(plot(trace_of(BROKEN)))
    red = [node.text for node in root.iter(f"{SVG}text") if node.get("fill") == "#c62828"]
    assert red[:4] == ["torch.softmax(scores, dim=-1)", "d_h", "memory", "T_enc"]
    assert any("SD101" in (text or "") for text in red)


def test_a_finding_of_a_rule_marks_its_axis() -> None:
    root = ElementTree.fromstring(plot(trace_of(SILENT)))
    red = [node.text for node in root.iter(f"{SVG}text") if node.get("fill") == "#c62828"]
    assert red[0] == "T_dec"
    assert "SD401" in (red[-1] or "")


def test_an_entry_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(KeyError, match="no entry 'forward'; there are '', 'attend'"):
        shape_flow(trace_of(SILENT), entry="forward")


def test_an_empty_trace_is_a_picture() -> None:
    ElementTree.fromstring(shape_flow(Trace("empty.py", "")))


def test_a_heat_map_hatches_padding_and_shows_what_leaks_into_it() -> None:
    picture = heat_map(
        [[0.75, 0.25, 0.0], [0.5, 0.29, 0.21]],
        queries=["a", "b"],
        keys=["x", "<eos>", "<pad>"],
        padding=[False, False, True],
    )
    root = ElementTree.fromstring(picture)
    hatched = [node for node in root.iter(f"{SVG}rect") if node.get("fill") == "url(#padding)"]
    assert len(hatched) == 3  # two cells, and the legend
    red = [node.text for node in root.iter(f"{SVG}text") if node.get("fill") == "#c62828"]
    assert red == ["0.21"]
    assert "<pad>" in texts(picture)


@pytest.mark.parametrize(
    ("weights", "options", "says"),
    [
        ([[1.0], [0.5, 0.5]], {}, "unequal lengths"),
        ([[1.0, 0.0]], {"keys": ["a"]}, "keys has 1 entries, the axis has 2"),
        ([[1.0, 0.0]], {"padding": [True]}, "padding has 1 entries"),
    ],
)
def test_labels_that_do_not_fit_are_refused(weights: list[list[float]], options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        plot(weights, **options)


def test_the_public_function_draws_both_and_saves(tmp_path: Path) -> None:
    shapedoc.plot(trace_of(SILENT)).save(tmp_path / "flow.svg")
    ElementTree.parse(tmp_path / "flow.svg")
    picture = shapedoc.plot([[0.5, 0.5]], keys=["a & b", "c"])
    assert picture._repr_svg_() == picture
    assert "a & b" in texts(picture)


def test_nothing_is_fetched_and_no_script_runs() -> None:
    for picture in (plot(trace_of(BROKEN)), heat_map([[1.0]])):
        assert "<script" not in picture
        assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def test_what_can_be_no_weight_is_red_and_no_error() -> None:
    picture = heat_map([[0.5, float("nan"), 0.5], [1.5, -2e9, float("inf")]])
    red = [node.text for node in ElementTree.fromstring(picture).iter(f"{SVG}text") if node.get("fill") == "#c62828"]
    assert red == ["nan", "1.50", "-2e9", "inf"]


def test_padding_of_every_row_and_two_pictures_on_a_page() -> None:
    padding = [[False, True, True], [False, False, True]]
    picture = heat_map([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], padding=padding, pattern="second")
    root = ElementTree.fromstring(picture)
    assert len([n for n in root.iter(f"{SVG}rect") if n.get("fill") == "url(#second)"]) == 4  # three, and the legend
    assert "#padding" not in picture
    with pytest.raises(ValueError, match=r"padding has another shape than the weights, \(2, 3\)"):
        heat_map([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], padding=padding[:1])


def test_words_of_another_language() -> None:
    words = Words(keys="键", queries="查询", padding="填充", weight="权重", weights="注意力权重")
    shown = texts(heat_map([[1.0, 0.0]], padding=[False, True], words=words))
    assert {"键", "查询", "填充", "权重", "注意力权重"} <= set(shown)
    assert "形状 attend" in texts(shape_flow(trace_of(SILENT), words=Words(flow_of="形状 {name}")))


def test_control_characters_and_surrogates_stay_out_of_pictures() -> None:
    hostile = 'a\x00\x1b[31m\ud800<script>"&'
    for picture in (
        heat_map([[1.0]], queries=[hostile], keys=[hostile * 3], title=hostile),
        accuracy_curve([1], [0.5], title=hostile, name=hostile),
    ):
        picture.encode("utf-8")
        assert 'a\u2400\u241b[31m\ufffd<script>"&' in texts(picture)


def test_the_curve_crosses_out_what_lies_outside_the_band() -> None:
    picture = accuracy_curve([10, 20], [0.99, 0.4], baseline=[0.46, 0.2], band=[(0.95, 1.0), (0.45, 1.0)])
    root = ElementTree.fromstring(picture)
    red = [node.text for node in root.iter(f"{SVG}text") if node.get("fill") == "#c62828"]
    assert red == ["0.40"]
    assert len(list(root.iter(f"{SVG}circle"))) == 1
    assert [n.get("class") for n in root.iter(f"{SVG}path")].count("band") == 1
    assert {"accuracy", "baseline", "passes", "length", "10", "20", "0.99"} <= set(texts(picture))


def test_the_curve_is_broken_where_nothing_was_measured() -> None:
    picture = accuracy_curve([1, 2, 3, 4, 5], [0.1, 0.2, float("nan"), 0.4, 0.5])
    lines = [n.get("d") for n in ElementTree.fromstring(picture).iter(f"{SVG}path") if n.get("stroke") == "#0b5cad"]
    assert len(lines) == 3  # two runs, and the legend
    ElementTree.fromstring(accuracy_curve([], []))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lengths": [1, 2], "accuracy": [0.5]}, "accuracy has 1 entries, there are 2 lengths"),
        ({"lengths": [1], "accuracy": [0.5], "band": [(0, 1), (0, 1)]}, "band has 2 entries"),
        ({"lengths": [2, 1], "accuracy": [0.5, 0.5]}, "the lengths do not rise"),
    ],
)
def test_curves_that_do_not_fit_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        accuracy_curve(**options)


def test_a_finding_on_a_constructor_is_shown_where_it_takes_effect() -> None:
    trace = trace_of(BUILT)
    findings = [finding for rule in all_rules() for finding in rule.check(trace)]
    assert [(finding.code, finding.span.line) for finding in findings] == [("SD602", 9)]
    root = ElementTree.fromstring(shape_flow(trace, findings))
    shown = [node.text or "" for node in root.iter(f"{SVG}text")]
    assert shown[0] == "shape flow of Encoder"
    red = [node.text or "" for node in root.iter(f"{SVG}text") if node.get("fill") == "#c62828"]
    assert "self.emb(source)" in shown
    assert "should be" not in shown
    assert any(text.startswith("✗ SD602") for text in red)
