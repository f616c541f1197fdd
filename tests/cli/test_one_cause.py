"""One cause is told once, and can be silenced and mended at each of its places."""

from __future__ import annotations

from tests.cli.project import Project

SPANS = """\
import torch
import torch.nn as nn


class Spans(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.begin = nn.Linear(d_model, 1)
        self.finish = nn.Linear(d_model, 1)

    def forward(self, passage):
        B, T, d_model = passage.shape
        begin = self.begin(passage)
        finish = self.finish(passage)
        return begin.squeeze(), finish.squeeze()
"""
HEADS = """\
import torch


def merged(heads):
    B, H, T, d_head = heads.shape
    context = heads.transpose(1, 2).view(B, T, H * d_head)
    scaled = (heads / 2).transpose(1, 2).view(B, T, H * d_head)
    return context + scaled
"""


def test_full_shows_every_place_under_one_message(project: Project) -> None:
    project.write("spans.py", SPANS)
    ran = project.run("lint", "spans.py")
    assert ran.stdout == (
        """\
warning[SD206] squeeze-drops-batch: `squeeze()` of begin (B, T, 1) drops the batch `B` too when it is 1
  --> spans.py:15:16
   |
13 |         begin = self.begin(passage)
   |                 ------------------- begin is (B, T, 1)
15 |         return begin.squeeze(), finish.squeeze()
   |                ^^^^^^^^^^^^^^^ begin is (B, T, 1), should be (B, T)
   |                                 ---------------- the same here: finish is (B, T, 1)
   = why: without an axis, `squeeze` drops every axis of size 1: the rank depends on the size of the batch
   = note: fails for a batch of one, such as the last of an epoch or the one at inference
   = help: name the axis: `squeeze(-1)`
   = more: shapedoc explain SD206

found 1 warning in 1 file
"""
    )


def test_one_fix_mends_every_place(project: Project) -> None:
    project.write("heads.py", HEADS)
    (finding,) = project.report("heads.py")["findings"]
    fix = finding["fix"]
    assert isinstance(fix, dict)
    assert {edit["line"] for edit in fix["edits"]} == {6, 7}
    mended = project.run("lint", "--fix", "heads.py")
    assert mended.stdout == "no faults found in 1 file\n"
    text = (project.folder / "heads.py").read_text()
    assert text.count(".transpose(1, 2).reshape(B, T, H * d_head)") == 2


def test_ignores_are_added_for_every_place(project: Project) -> None:
    text = SPANS.replace(
        "        return begin.squeeze(), finish.squeeze()\n",
        "        begin = begin.squeeze()\n        finish = finish.squeeze()\n        return begin, finish\n",
    )
    project.write("spans.py", text)
    project.run("lint", "--add-ignores", "spans.py")
    lines = (project.folder / "spans.py").read_text().splitlines()
    assert [n for n, line in enumerate(lines, 1) if "shapedoc: ignore[SD206]" in line] == [15, 16]
    assert project.report("spans.py")["findings"] == []


def test_a_silenced_place_is_no_label_of_another(project: Project) -> None:
    text = SPANS.replace(
        "        return begin.squeeze(), finish.squeeze()\n",
        "        begin = begin.squeeze()  # shapedoc: ignore[SD206]\n        return begin, finish.squeeze()\n",
    )
    project.write("spans.py", text)
    (finding,) = project.report("spans.py")["findings"]
    assert (finding["line"], finding["tensor"]) == (16, "finish")
