"""A name for an axis that the author says is 1: ``(steps=1, batch, hidden)``."""

from __future__ import annotations

from tests.infer.revealed import check


def test_what_is_said_to_be_1_is_1() -> None:
    check(
        """\
        import torch
        import torch.nn as nn


        class Decoder(nn.Module):
            def __init__(self, width, hidden):
                super().__init__()
                self.rnn = nn.GRU(width, hidden)

            def forward(self, word, state):
                # top: (steps=1, batch, hidden)
                top, state = self.rnn(word, state)
                step = top.squeeze(0)  #: (batch, hidden)
                return step, state
        """,
        "Decoder",
    )


def test_what_is_tested_to_be_1_is_1_where_it_holds() -> None:
    check(
        """\
        import torch


        def merged(heads, x, trace):
            T, B, d = x.shape
            if trace and heads.size(1) == 1:
                step = heads.view(T, B, d)
                one = heads.transpose(0, 1)  #: (1, ?, *heads)
            else:
                step = heads.transpose(0, 1).contiguous().view(T, B, d)
            rows = heads.transpose(0, 1)  #: (?, ?, *heads)
            return step, rows
        """,
        "merged",
    )


def test_what_is_1_in_both_branches_is_1_after_them_though_the_rank_is_not_known() -> None:
    check(
        """\
        import torch


        def encoded(text, lower):
            if lower:
                tokens = torch.tensor([text.lower_tokens()])
            else:
                tokens = torch.tensor([text.tokens()])
            return tokens * 2  #: (1, ...)
        """,
        "encoded",
    )
