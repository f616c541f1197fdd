"""The report for a terminal: wrapped, coloured where it is asked for, and deaf to what a submission prints."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from shapedoc.grade.pages import terminal
from shapedoc.grade.result import GradedSubmission
from shapedoc.report.colour import COLOURED
from shapedoc.report.width import shown_width
from tests.grade.samples import FAILED, hostile_results


def test_the_whole_report() -> None:
    few = replace(FAILED, items=(FAILED.items[0], replace(FAILED.items[1], hint="Move the mask."), *FAILED.items[2:3]))
    assert "\n".join(terminal.render(few)) == (
        """\
Masked softmax: li_wei.py  2.5 of 4 points, not yet right
Further points, for what is not shown here: 2

✓ The weights have the shape of the scores  1/1

◐ Padding gets no weight  1.5/3
  A key at or past the length of its row has weight 0, exactly.
  3 of 6 inputs right
  Row 2 has length 3, yet key 4 got weight 0.21; it must be 0. The mask is applied after the
  softmax, line 14.
  Your smallest failing input
    | masked_softmax(scores, lengths)
    | scores  (1, 5), float32
    | [[0.5, 1.5, 0.25, -1, 0.75]]
    | lengths  (1,), int64
    | [3]
  What your code returned
    | weights  (1, 5), float32
    | [[0.15, 0.42, 0.12, 0.1, 0.21]]
  What is right
    | weights  (1, 5), float32
    | [[0.22, 0.61, 0.17, 0, 0]]
  largest difference: 0.21
  line 14
    |     return torch.softmax(scores, dim=-1) * mask
  Hint: The mask is applied after the softmax
  Move the mask.
  One step to take
  scores.masked_fill(~mask, float('-inf')).softmax(dim=-1)

? A row without keys  ?/2
  A row of length 0 has weights of 0, not NaN.
  This is marked on inputs of its own; how it went is not shown here.

What the linter sees in your code

  SD404 mask-after-softmax: the weights are masked after the softmax and not renormalised
  line 14
    |     return torch.softmax(scores, dim=-1) * mask
  One step to take
    | torch.softmax(scores.masked_fill(~mask, float('-inf')), dim=-1)
  More on this rule: shapedoc explain SD404"""
    )


def test_prose_is_wrapped_by_columns_in_both_languages() -> None:
    for text in ("word " * 60, "注意力权重\uff0c之和 is 1。" * 12, "a" * 300):
        item = replace(FAILED.items[1], hint=text)
        lines = list(terminal.render(replace(FAILED, items=(item,)), width=60))
        start = next(i for i, line in enumerate(lines) if line.startswith("  Hint")) + 1
        wrapped = lines[start : lines.index("  One step to take")]
        assert "".join("".join(wrapped).split()) == "".join(text.split())
        if "a" * 300 not in text:
            assert len(wrapped) > 4
            assert all(shown_width(line) <= 60 for line in wrapped)
            assert not any(line.strip().startswith(("\uff0c", "。")) for line in wrapped)


def test_colours_are_the_palettes() -> None:
    lines = list(terminal.render(FAILED, COLOURED))
    assert lines[0].startswith("\x1b[1mMasked softmax: li_wei.py\x1b[0m")
    assert any(line.startswith("\x1b[1;33m◐\x1b[0m") for line in lines)


@given(hostile_results())
def test_no_control_character_of_a_submission_reaches_the_terminal(result: GradedSubmission) -> None:
    for line in terminal.render(result):
        line.encode("utf-8")
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or "\u202a" <= c <= "\u202e" for c in line)
