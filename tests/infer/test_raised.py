"""What a function can take for granted behind a test that raises."""

from __future__ import annotations

from tests.infer.revealed import check
from tests.rules.expectations import found

PROGRAM = """
import torch.nn as nn


class Mix(nn.Module):
    def __init__(self, d_query, d_key):
        super().__init__()
        self.query = nn.Linear(7, d_query)
        self.key = nn.Linear(7, d_key)

    def forward(self, query, keys):
        query, keys = self.query(query), self.key(keys)
%s
        return query + keys
"""


def test_sizes_that_a_test_asks_to_be_equal_are_equal_behind_it() -> None:
    guard = '        if query.size(-1) != keys.size(-1):\n            raise ValueError("one width is needed")'
    assert [f.code for f in found(PROGRAM % "", "SD102")] == ["SD102"]
    assert found(PROGRAM % guard, "SD102") == []
    assert found(PROGRAM % "        assert query.size(-1) == keys.size(-1)", "SD102") == []


def test_a_rank_that_a_test_asks_for() -> None:
    check(
        """
        import torch

        def pooled(x):
            if x.dim() != 3:
                raise ValueError("(B, T, d) is needed")
            return x.mean(dim=1)  #: (?, ?)
        """,
        "pooled",
    )
