"""Tests that are proved by running them: the class is built with sizes that differ where the code lets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.exhibit import ROOT, execute
from shapedoc.core.fix import apply_edits
from shapedoc.engine import Settings
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import prescribe
from shapedoc.prescribe.proving import Proved, proved_test
from shapedoc.prescribe.sizing import schemes
from tests.cli.project import Project


def bench_of(name: str) -> Bench:
    path = ROOT / "broken" / f"{name}.py"
    return Bench.of(str(path), path.read_text(encoding="utf-8"), Settings())


def proved(name: str) -> Proved:
    bench = bench_of(name)
    return proved_test(bench, prescribe(bench)[0], {})


def test_sizes_are_distinct_and_divide_where_the_code_divides() -> None:
    (first, *_) = schemes(("d_model", "n_heads", "d_ff"), "assert d_model % n_heads == 0", {})
    assert first["d_model"] % first["n_heads"] == 0
    assert len(set(first.values())) == 3


def test_a_given_size_is_kept() -> None:
    assert all(way["d_model"] == 64 for way in schemes(("d_model", "n_heads"), "d_model // n_heads", {"d_model": "64"}))


def test_the_test_names_shapes_weights_padding_and_what_breaks() -> None:
    found = proved("sd401_softmax_over_batch")
    assert found.verdict is not None
    assert found.verdict.holds
    assert found.test is not None
    for line in (
        "from sd401_softmax_over_batch import BahdanauAttention",
        '"""Rows of a batch do not mix: an example alone has the row that it has in a batch."""',
        "assert context.shape == (batch_size, enc_dim)",
        "assert weights.shape == (batch_size, T_enc)",
        "assert ((weights.sum(dim=-1) - 1).abs() < 1e-5).all()",
        "assert (weights[~mask] == 0).all()",
    ):
        assert line in found.test


def test_a_squeezed_batch_of_one_is_seen_by_an_example_alone() -> None:
    found = proved("sd206_squeeze_all")
    assert found.test is not None
    assert "alone_" in found.test


UNBUILDABLE = """\
import torch
from torch import nn


class Score(nn.Module):
    def __init__(self, d, config: dict):
        super().__init__()
        self.map = nn.Linear(d, config["size"])

    def forward(self, query, memory):
        scores = self.map(query) @ memory.transpose(1, 2)
        return torch.softmax(scores, dim=0) @ memory
"""


def test_what_a_class_cannot_be_built_without_is_named(project: Project) -> None:
    project.write("a.py", UNBUILDABLE)
    ran = project.run("diagnose", "a.py", "--verify")
    assert "Score cannot be built: nothing is known of `config`; say it with --arg config=VALUE" in ran.stdout
    ran = project.run("diagnose", "a.py", "--verify", "--arg", "config={'size': 13}", "--arg", "d=13")
    assert "verified: executed" in ran.stdout


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("size", "it is written NAME=VALUE, as in --arg d_model=64"),
        ("d=)", "`)` is no expression of Python"),
        ("depth=2", "no function in a.py takes `depth`; parameters there: config, d, memory, query"),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(project: Project, argument: str, words: str) -> None:
    project.write("a.py", UNBUILDABLE)
    ran = project.run("diagnose", "a.py", "--verify", "--arg", argument)
    assert ran.returncode == 2
    assert words in ran.stderr


PATCHES = """\
import torch


def patches(x, d, H, W):
    B = x.shape[0]
    x = torch.relu(x)
    return x.view(B, d, H, W)


if __name__ == "__main__":
    d, H, W = 7, 3, 5
    print(patches(torch.randn(2, H * W, d), d, H, W).shape)
"""


def test_what_is_split_keeps_the_order_of_its_factors(tmp_path: Path) -> None:
    import torch

    place = tmp_path / "a.py"
    bench = Bench.of(str(place), PATCHES, Settings())
    (answer,) = prescribe(bench)
    assert answer.fix is not None
    text = apply_edits(PATCHES, answer.fix.candidate.edits)
    x = torch.randn(2, 15, 7)
    right = torch.relu(x).reshape(2, 3, 5, 7).permute(0, 3, 1, 2)
    assert torch.equal(execute(text, place, "patches").patches(x, 7, 3, 5), right)


def test_fixes_of_one_file_hold_together(tmp_path: Path) -> None:
    text = (
        "import numpy as np\n\n\ndef step(x, h, W, U):\n    return np.tanh(W @ x + U @ h)\n\n\n"
        "rng = np.random.default_rng(0)\nd, k, B = 5, 7, 3\n"
        "W, U = rng.normal(size=(k, d)), rng.normal(size=(k, k))\n"
        "print(step(rng.normal(size=(B, d)), np.zeros((B, k)), W, U).shape)\n"
    )
    bench = Bench.of(str(tmp_path / "a.py"), text, Settings())
    edits = {e for one in prescribe(bench) if one.fix is not None for e in one.fix.candidate.edits}
    assert len(edits) == 2
    execute(apply_edits(text, edits), tmp_path / "a.py")
