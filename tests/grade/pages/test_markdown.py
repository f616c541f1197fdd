"""Markdown: what a submission says is no markup."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from markdown_it import MarkdownIt

from shapedoc.grade.pages import markdown
from shapedoc.grade.pages.text import safe_line
from shapedoc.grade.result import GradedSubmission
from tests.grade.samples import FAILED, NOT_GRADABLE, hostile_results, hostile_text

_READER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
_BLOCKS = {"heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence"}
_SPANS = {"text", "text_special", "code_inline", "strong_open", "strong_close", "softbreak"}


def kinds(text: str) -> tuple[set[str], set[str]]:
    """The kinds of blocks, and of what stands in lines."""
    blocks = _READER.parse(text)
    return {one.type for one in blocks}, {child.type for one in blocks for child in one.children or []}


def test_a_report_is_read_as_it_is_meant() -> None:
    text = markdown.render(FAILED)
    assert text.startswith("# Masked softmax: li_wei.py\n\n**2.5 of 5 points**, not yet right\n")
    assert "## ◐ Padding gets no weight (1.5 / 3)\n" in text
    assert "## ? A row without keys (? / 2)\n" in text
    assert "with `masked_fill`, and only then" in text
    assert "```text\n    return torch.softmax(scores, dim=-1) * mask\n```" in text
    assert "SECRET" not in text
    assert "LATER" not in text
    assert "LATER" in markdown.render(FAILED, published=True)
    assert "```text\nline 3: '(' was never closed\n```" in markdown.render(NOT_GRADABLE)


def test_a_fence_is_longer_than_any_in_it() -> None:
    (fence,) = (one for one in _READER.parse(markdown.fenced("a\n````\nb")) if one.type == "fence")
    assert fence.content == "a\n````\nb\n"


@given(hostile_text())
def test_prose_comes_back_as_it_was(text: str) -> None:
    """Outside of backticks, whatever is escaped is read as the very text, on one line."""
    plain = text.replace("`", "")
    lines = [one for one in _READER.parse(markdown.escaped(plain)) if one.type == "inline"]
    read = "".join(child.content for line in lines for child in line.children or [])
    assert read == safe_line(plain)


@given(hostile_results())
def test_whatever_a_submission_says_is_text_or_code(result: GradedSubmission) -> None:
    text = markdown.render(replace(result, pictures=FAILED.pictures))
    text.encode("utf-8")
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    blocks, spans = kinds(text)
    assert blocks <= _BLOCKS
    assert spans <= _SPANS
