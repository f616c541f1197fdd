"""A test that is asked twice in one function, and sizes that branches gave."""

from __future__ import annotations

from tests.infer.revealed import check, run
from tests.rules.expectations import found


def problems(program: str) -> list[tuple[int, str]]:
    return sorted({(e.span.line, p.kind) for e in run(program).events for p in e.problems})


def test_what_a_branch_left_is_there_when_its_test_holds_again() -> None:
    check(
        """
        import torch.nn as nn

        class Folded(nn.Module):
            def __init__(self, folds):
                super().__init__()
                self.folds = folds

            def forward(self, x):
                B, T, d = x.shape
                y = x
                if self.folds is not None:
                    y = x.unsqueeze(1)
                if self.folds is None:
                    short = y.mean(0)  #: (T, d)
                if not self.folds is None:
                    long = y.mean(0)  #: (1, T, d)
                return short
        """,
        "Folded",
    )


def test_an_answer_is_forgotten_where_what_is_asked_has_changed() -> None:
    check(
        """
        import torch.nn as nn

        class Folded(nn.Module):
            def forward(self, x, folds, more):
                B, T, d = x.shape
                y = x
                if folds is not None:
                    y = x.unsqueeze(1)
                folds = more
                if folds is not None:
                    long = y.mean(0)  #: ?
                return long
        """,
        "Folded",
    )


RELATIVE = """
import torch
import torch.nn as nn


def by_distance(x, table, transpose):
    batch, heads, steps, _ = x.size()
    rows = x.permute(2, 0, 1, 3).contiguous().view(steps, heads * batch, -1)
    if transpose:
        table = table.transpose(1, 2)
    return torch.matmul(rows, table).view(steps, batch, heads, -1).permute(1, 2, 0, 3)


class Relative(nn.Module):
    def __init__(self, d, reach, heads):
        super().__init__()
        self.heads, self.width = heads, d // heads
        self.query, self.key = nn.Linear(d, d), nn.Linear(d, d)
        self.distances = nn.Embedding(reach, self.width) if reach > 0 else None

    def forward(self, x, y):
        q = self.query(x).view(x.size(0), -1, self.heads, self.width).transpose(1, 2)
        k = self.key(y).view(y.size(0), -1, self.heads, self.width).transpose(1, 2)
        rows, heads, length, width = k.size()
        scores = q @ k.transpose(-2, -1)
        if self.distances is not None:
            places = torch.arange(length)[None] - torch.arange(length)[:, None]
            near = self.distances(places)
            scores = scores + by_distance(q, near, True)
        weights = scores.softmax(-1)
        if self.distances is not None:
            weights = by_distance(weights, near, False)
        return weights


"""


def test_what_a_table_of_distances_needs_once_it_may_need_again() -> None:
    assert found(RELATIVE, "SD101", "SD102") == []


def test_a_size_that_branches_gave_is_another_only_where_all_of_them_are() -> None:
    program = """
        import torch

        def joined(x, keep):
            B, T, S, R, d = x.shape
            a = x.sum((1, 2))
            if keep:
                a = x.sum((2, 3))
            rows, length, width = a.shape
            seen = torch.zeros(rows, length, T, S, R)
            return a + x.sum({axes})
        """
    assert problems(program.format(axes=(1, 2))) == problems(program.format(axes=(2, 3))) == []
    assert [kind for _, kind in problems(program.format(axes=(1, 3)))] == ["elementwise"]
