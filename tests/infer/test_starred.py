"""Names that a star import has brought."""

from __future__ import annotations

from tests.infer.revealed import check
from tests.rules.expectations import found


def test_a_library_that_a_star_import_of_another_file_brings() -> None:
    check(
        """
        import torch.nn.functional as F
        from settings import *

        class Scorer(nn.Module):
            def __init__(self, d_model, d_head):
                super().__init__()
                self.query = nn.Linear(d_model, d_head)

            def forward(self, x):
                B, T, C = x.shape
                q = self.query(x)  #: (B, T, d_head)
                return torch.bmm(q, q.transpose(1, 2))  #: (B, T, T)
        """,
        "Scorer",
    )


def test_what_a_library_has_under_a_name() -> None:
    check(
        """
        from torch.nn import *
        from torch.nn.functional import *
        from torch import *

        class Scorer(Module):
            def __init__(self, d_model, d_head):
                super().__init__()
                self.query = Linear(d_model, d_head)

            def forward(self, x):
                B, T, C = x.shape
                q = self.query(x)  #: (B, T, d_head)
                weights = softmax(matmul(q, q.transpose(1, 2)), dim=-1)
                return bmm(weights, q)  #: (B, T, d_head)
        """,
        "Scorer",
    )


def test_a_name_is_not_a_library_without_a_star_import_nor_where_the_file_has_its_own() -> None:
    program = """
import torch
%s

def scores(a, b):
    B, T, d = a.shape
    return np.matmul(a, b) @ a
"""
    own = "from settings import *\nimport torch as np"
    for line in ("import settings", own):
        assert found(program % line, "SD101") == []


def test_a_constant_that_a_star_import_of_another_file_brings() -> None:
    check(
        """
        import torch.nn as nn
        from settings import *

        class Words(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.embed = nn.Embedding(VOCAB_SIZE, width)
                self.out = nn.Linear(width, VOCAB_SIZE)

            def forward(self, tokens):
                B, T = tokens.shape
                return self.out(self.embed(tokens))  #: (B, T, VOCAB_SIZE)
        """,
        "Words",
    )
