"""How many names sizes are unpacked into says how many axes a tensor of unknown rank has."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import study
from shapedoc.engine.request import Settings
from tests.infer.revealed import check


def test_a_shape_beside_other_values() -> None:
    check(
        """
        from torch import nn

        class Attention(nn.Module):
            def __init__(self, dim, heads, dim_head):
                super().__init__()
                self.heads = heads
                self.to_q = nn.Linear(dim, heads * dim_head)

            def forward(self, x):
                b, n, _, h = *x.shape, self.heads
                q = self.to_q(x)  #: (b, n, heads*dim_head)
                return q.view(b, n, h, -1)  #: (b, n, heads, dim_head)
        """,
        "Attention",
    )


def test_a_shape_between_other_values() -> None:
    check(
        """
        def f(x, mode):
            k, b, c, name = 3, *x.size(), mode
            return x.tanh()  #: (b, c)
        """,
        "f",
    )


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("b, n = x.shape[:-1]", "(b, n, ?)"),
        ("n, _, d = x.size()[1:]", "(?, n, ?, d)"),
        ("h, w = x.shape[1:-1]", "(?, h, w, ?)"),
        ("b, n, k = *x.shape[:-1], 4", "(b, n, ?)"),
    ],
)
def test_a_part_of_a_shape(line: str, shape: str) -> None:
    check(f"def f(x):\n    {line}\n    return x.tanh()  #: {shape}\n", "f")


def test_two_shapes_beside_each_other_say_nothing() -> None:
    check(
        """
        def f(x, y):
            a, b, c = *x.shape, *y.shape
            return x.tanh()  #: ?
        """,
        "f",
    )


def test_more_names_than_there_are_axes_are_told() -> None:
    text = """import torch


def f(x: torch.Tensor, heads: int):
    b, n, d = x.shape
    y = x.unsqueeze(1)
    b, n, _, h = *y.shape, heads
    return y
"""
    found = study("a.py", text, Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found] == [("SD105", 7, "3 names for the 4 axes of `y`")]


def test_as_many_names_as_there_are_axes_are_not() -> None:
    text = """import torch


def f(x: torch.Tensor, heads: int):
    b, n, d = x.shape
    b, n, _, h = *x.shape, heads
    return x
"""
    assert study("a.py", text, Settings(roots=())).findings == []


def test_a_number_that_two_branches_set_is_called_after_its_variable() -> None:
    check(
        """
        import torch

        def f(x, whole):
            b, t, d = x.shape
            if whole:
                n = b
            else:
                n = t
            return torch.zeros(n, d)  #: (n, d)
        """,
        "f",
    )


def test_an_optional_number_is_one_wherever_it_is_used() -> None:
    check(
        """
        import torch
        from torch import nn

        class Slots(nn.Module):
            def __init__(self, num_slots, dim):
                super().__init__()
                self.num_slots = num_slots
                self.mu = nn.Parameter(torch.randn(1, 1, dim))

            def forward(self, x, num_slots=None):
                b, n, d = x.shape
                n_s = num_slots if num_slots is not None else self.num_slots
                mu = self.mu.expand(b, n_s, -1)  #: (b, num_slots, dim)
                return mu + torch.randn(mu.shape)  #: (b, num_slots, dim)
        """,
        "Slots",
    )


def test_windows_over_what_has_a_name_give_what_has_one() -> None:
    check(
        """
        import torch.nn.functional as F

        def f(x):
            b, c, t, f = x.shape
            y = F.avg_pool2d(x, kernel_size=(2, 2))  #: (b, c, t//2, f//2)
            z = F.max_pool2d(x, 3, stride=2, padding=1)  #: (b, c, (t + 1)//2, (f + 1)//2)
            return y
        """,
        "f",
    )


def test_an_axis_is_called_what_a_pattern_calls_it() -> None:
    check(
        """
        import torch
        from einops import rearrange

        def f(x, y):
            q = rearrange(x, "b n d -> b d n")  #: (b, d, n)
            k = rearrange(y, "b m (h e) -> b h m e", h=8)  #: (b, 8, m, ?)
            return torch.einsum("bdn,bnk->bdk", q, x)  #: (b, d, d)
        """,
        "f",
    )


def test_a_name_of_the_author_stays() -> None:
    check(
        """
        from einops import rearrange

        def f(x):
            batch, steps, width = x.shape
            return rearrange(x, "b n d -> b d n")  #: (batch, width, steps)
        """,
        "f",
    )


def test_scores_are_called_what_the_sum_calls_them() -> None:
    check(
        """
        import torch

        def scores(q, k):
            return torch.einsum("bhid,bhjd->bhij", q, k)  #: (b, h, i, j)
        """,
        "scores",
    )
