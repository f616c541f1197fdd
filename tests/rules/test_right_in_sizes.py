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
    "the steps of a table that are left out, if any are": """
class Relative(nn.Module):
    def __init__(self, d_head, n_max):
        super().__init__()
        self.n_max = n_max
        self.table = nn.Parameter(torch.randn(n_max, d_head))

    def forward(self, query, n_steps):
        left_out = max(0, self.n_max - n_steps)
        scores = query @ self.table[left_out:].transpose(0, 1)
        return scores + torch.zeros(self.n_max)
""",
    "a window that may take all steps": """
class Windowed(nn.Module):
    def __init__(self, dim, window):
        super().__init__()
        self.window = window
        self.to_q = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, d = x.shape
        n = min(T, self.window)
        band = torch.ones(T, n)
        if T <= self.window:
            return band + torch.zeros(T)
        return band
""",
    "a number kept that is 0 by default, and no more than there are": """
class Relative(nn.Module):
    def __init__(self, d_head, n_max, n_kept=0):
        super().__init__()
        self.n_max = n_max
        self.n_kept = min(n_kept, n_max)
        self.table = torch.randn(n_max, d_head)
        self.bias = nn.Parameter(torch.zeros(n_max, 1))

    def forward(self, query):
        return self.table[self.n_kept:] + self.bias
""",
    "reads that are counted, at some layers none": """
class Reader(nn.Module):
    def __init__(self, dim, n_reads=0):
        super().__init__()
        self.to_q = nn.Linear(dim, dim)
        self.to_out = nn.Linear(dim * (1 + n_reads), dim)

    def forward(self, x, reads=[]):
        x = self.to_q(x)
        if len(reads) == 0:
            return self.to_out(x)
        for read in reads:
            x = torch.cat((x, read), dim=-1)
        return self.to_out(x)


class Stack(nn.Module):
    def __init__(self, dim, depth, read_at):
        super().__init__()
        self.layers = nn.ModuleList([])
        for layer in range(depth):
            n_reads = sum([int(layer == at) for at in read_at])
            self.layers.append(Reader(dim, n_reads=n_reads))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "a read that is or is not there": """
class Reader(nn.Module):
    def __init__(self, dim, reads_itself):
        super().__init__()
        n_reads = int(reads_itself and dim > 3)
        self.norm = nn.LayerNorm(dim)
        self.reads_itself = reads_itself
        self.to_out = nn.Linear(dim * (1 + n_reads), dim)

    def forward(self, x, state):
        x = self.norm(x)
        if not self.reads_itself:
            return self.to_out(x)
        x = torch.cat((x, state), dim=-1)
        return self.to_out(x)
""",
    "a count given where the default is 0": """
from settings import reads_of


class Reader(nn.Module):
    def __init__(self, dim, n_reads=0):
        super().__init__()
        self.to_out = nn.Linear(dim * (1 + n_reads), dim)

    def forward(self, x, reads):
        if len(reads) == 0:
            return self.to_out(x)
        for read in reads:
            x = torch.cat((x, read), dim=-1)
        return self.to_out(x)


class Stack(nn.Module):
    def __init__(self, dim, depth, read_at):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.layer = Reader(dim, n_reads=len([at for at in read_at if at > depth]))

    def forward(self, x):
        return self.layer(self.norm(x), [])
""",
    "a grid that its table says to be a square": """
class Grid(nn.Module):
    def __init__(self, n_patches, d):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, n_patches, n_patches, d))

    def forward(self, x):
        B, n_rows, n_columns, d = x.shape
        return x + self.table
""",
    "a row of its own on top of a square grid": """
class Grid(nn.Module):
    def __init__(self, n_patches, d):
        super().__init__()
        self.first = nn.Parameter(torch.zeros(1, 1, n_patches, d))
        self.table = nn.Parameter(torch.zeros(1, n_patches + 1, n_patches, d))

    def forward(self, x):
        B, n_rows, n_columns, d = x.shape
        x = torch.cat((self.first.expand(B, -1, -1, -1), x), dim=1)
        return x + self.table
""",
    "zeros on top of a square grid": """
class Grid(nn.Module):
    def __init__(self, n_patches, d):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, n_patches + 1, n_patches, d))

    def forward(self, x):
        B, n_rows, n_columns, d = x.shape
        first = torch.zeros((1, 1, n_columns, d)).expand(B, -1, -1, -1)
        x = torch.cat((first, x), dim=1)
        return x + self.table
""",
    "states of a batch of one, and the batch of what is asked": """
class Decoder(nn.Module):
    def __init__(self, d, n_words, n_steps):
        super().__init__()
        self.n_words, self.n_steps = n_words, n_steps
        self.cell = nn.GRUCell(d, d)
        self.out = nn.Linear(d, n_words * n_steps)

    def forward(self, memory, state):
        batch_size = memory.size(0)
        scores = torch.softmax(memory @ state.unsqueeze(2), dim=1)
        state = self.cell((scores * memory).sum(1), state)
        return self.out(state).view(batch_size, self.n_words, self.n_steps), state


class Model(nn.Module):
    def __init__(self, d, n_words, n_steps):
        super().__init__()
        self.d = d
        self.embed = nn.Embedding(n_words, d)
        self.decoder = Decoder(d, n_words, n_steps)

    def generate(self, tokens):
        batch_size = 1
        state = torch.zeros(batch_size, self.d)
        out, state = self.decoder(self.embed(tokens), state)
        return out
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
