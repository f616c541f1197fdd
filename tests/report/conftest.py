"""Findings for the tests of formats, built by hand."""

from __future__ import annotations

import pytest

from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.core.fix import Edit, Fix
from shapedoc.core.span import Label, Span
from shapedoc.core.statistics import Statistics
from shapedoc.report import Context

SOURCE = """\
import torch


class Attention(torch.nn.Module):
    def forward(self, x, memory):
        B, T_dec, _ = x.shape
        T_enc, H, d_head = memory.size(1), self.n_heads, self.d_head
        q = self.w_q(x).view(B, T_dec, H, d_head).transpose(1, 2)
        k = self.w_k(memory).view(B, T_enc, H, d_head).transpose(1, 2)
        v = self.w_v(memory).view(B, T_enc, H, d_head).transpose(1, 2)

        scores = q @ k
        return scores.softmax(-1) @ v
"""


@pytest.fixture
def context() -> Context:
    return Context(text_of={"attention.py": SOURCE}.get)


@pytest.fixture
def product() -> Finding:
    return Finding(
        code="SD101",
        name="mismatched-product",
        severity="error",
        path="attention.py",
        span=Span(12, 17, 12, 22),
        message="`@` needs equal inner sizes, got `d_head` and `T_enc`",
        function="Attention.forward",
        tensor="k",
        actual="(B, H, T_enc, d_head)",
        expected="(B, H, d_head, T_enc)",
        labels=(
            Label(
                Span(12, 17, 12, 22),
                "q (B, H, T_dec, d_head): its last axis is `d_head`; k's second-to-last is `T_enc`",
            ),
            Label(Span(9, 12, 9, 70), "k is (B, H, T_enc, d_head)"),
        ),
        why="a score sums over `d_head`, once for every pair of query and key",
        notes=("runs only if d_head == T_enc",),
        help="scores = q @ k.transpose(-2, -1)",
        fix=Fix("transpose the last two axes of k", (Edit(Span(12, 21, 12, 22), "k.transpose(-2, -1)"),), "unsafe"),
        test="def test_scores() -> None: ...\n",
    )


@pytest.fixture
def report(product: Finding) -> Report:
    softmax = Finding(
        code="SD401",
        name="softmax-over-wrong-axis",
        severity="warning",
        path="attention.py",
        span=Span(13, 15, 13, 33),
        message="the weights sum to 1 over `T_dec`, and `T_enc` is summed away",
        tensor="weights",
        actual="(B, H, T_dec, T_enc)",
    )
    return Report(
        files=3,
        findings=[product, softmax],
        errors=[FileError("broken.py", "is a binary file")],
        statistics=Statistics(lines=40),
    )
