"""Right code whose sizes may be 0, or one another, though they have names of their own: nothing is found in it."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"

RIGHT = {
    "three weights in one, cut by the width of the query": """
class Packed(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, width // n_heads
        self.packed = nn.Parameter(torch.empty(3 * width, width))
        self.shift = nn.Parameter(torch.empty(3 * width))

    def forward(self, query, memory):
        B, T, C = query.shape
        w, b = self.packed, self.shift
        q = F.linear(query, w[:C], b[:C]).view(B, T, self.n_heads, self.d_head)
        k = F.linear(memory, w[C : 2 * C], b[C : 2 * C]).view(B, -1, self.n_heads, self.d_head)
        v = F.linear(memory, w[2 * C :], b[2 * C :]).view(B, -1, self.n_heads, self.d_head)
        out = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        return out.transpose(1, 2).reshape(B, T, C)
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
