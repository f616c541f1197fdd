"""Modules of files that are not read, named after what they do."""

from __future__ import annotations

from tests.infer.revealed import check
from tests.rules.expectations import found


def test_a_linear_map_and_a_norm_are_known_by_their_names() -> None:
    check(
        """
        import torch.nn as nn
        from layers import LinearNorm
        from .norms import BertLayerNorm

        class Prenet(nn.Module):
            def __init__(self, d, k):
                super().__init__()
                self.map = LinearNorm(d, k, bias=False, w_init_gain="tanh")
                self.norm = BertLayerNorm(d, eps=1e-12)

            def forward(self, x):
                B, T, d = x.shape
                h = self.norm(x)  #: (B, T, d)
                return self.map(h)  #: (B, T, k)
        """,
        "Prenet",
    )


def test_what_else_is_called_linear_may_be_anything() -> None:
    check(
        """
        import torch.nn as nn
        from layers import LinearAttention, LinearChain

        class Prenet(nn.Module):
            def __init__(self, d, k):
                super().__init__()
                self.first = LinearAttention(d, k)
                self.second = LinearChain(d, k)

            def forward(self, x):
                B, T, d = x.shape
                h = self.first(x).tanh()  #: ?
                return self.second(x).tanh()  #: ?
        """,
        "Prenet",
    )


def test_its_sizes_are_checked() -> None:
    text = """\
import torch.nn as nn
from layers import LinearNorm

class Scorer(nn.Module):
    def __init__(self, d_query, d_memory, d_attn):
        super().__init__()
        self.query = LinearNorm(d_query, d_attn)
        self.memory = LinearNorm(d_memory, d_attn)
        self.score = LinearNorm({sizes})

    def forward(self, query, memory):
        h = self.query(query).unsqueeze(1) + self.memory(memory)
        return self.score(h.tanh())
"""
    assert found(text.format(sizes="d_attn, 1"), "SD106") == []
    assert [f.line for f in found(text.format(sizes="d_memory, 1"), "SD106")] == [9]


def test_a_sum_of_what_is_not_known_is_no_number() -> None:
    text = """\
import torch.nn as nn
from layers import LayerNorm

class Sums(nn.Module):
    def __init__(self, parts, d, k):
        super().__init__()
        self.parts = parts
        self.norm = LayerNorm(d)
        self.map = nn.Linear(d, k)

    def forward(self, inputs):
        made = []
        for i, part in enumerate(self.parts.children()):
            made.append(part(inputs[i]))
        return self.map(self.norm(sum(made)))
"""
    assert found(text, "SD105") == []
