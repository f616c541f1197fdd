"""SD405: the root that scores are divided by is that of the size they are summed over."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.scale = self.size ** -0.5

    def cut(self, x):
        b, n, c = x.shape
        return x.view(b, n, self.heads, self.size).transpose(1, 2)

    def parts(self, x):
        return self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x))

"""

WRONG = {
    "the width in place of the head": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        s = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(x.size(-1))  # <- SD405
        return s.softmax(-1) @ v
""",
    "worked out in the constructor": """
class Patches(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64):
        super().__init__()
        self.heads, self.dim_head = heads, dim_head
        self.factor = dim ** -0.5  # <- SD405
        self.qkv = nn.Linear(dim, 3 * heads * dim_head)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, self.dim_head).permute(2, 0, 3, 1, 4)
        return ((q * self.factor) @ k.transpose(-2, -1)).softmax(-1) @ v

Patches(32, 4, 16)(torch.randn(2, 5, 32))
""",
    "multiplied with the root": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        s = q @ k.transpose(-2, -1) * math.sqrt(self.size)  # <- SD405
        return s.softmax(-1) @ v
""",
    "twice": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        q = q * self.scale
        s = q @ k.transpose(-2, -1) / self.size ** 0.5  # <- SD405
        return s.softmax(-1) @ v
""",
    "not at all": """
class Model(Heads):
    def forward(self, x, mask=None):
        q, k, v = self.parts(x)
        s = q @ k.transpose(-2, -1)  # <- SD405
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        return s.softmax(-1) @ v
""",
    "a default that nobody changed": """
def attend(q, k, v, scale=1.0):
    return (q @ k.transpose(-2, -1) * scale).softmax(-1) @ v

class Model(Heads):
    def forward(self, x):
        return attend(*self.parts(x))  # <- SD405

Model(32, 4)(torch.randn(2, 5, 32))
""",
    "before attention that scales by itself": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        q = q * self.scale  # <- SD405
        return F.scaled_dot_product_attention(q, k, v)
""",
    "one head, and it says what it is": """
class ScaledDotProduct(nn.Module):
    def forward(self, q, k, v):
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)), dim=2)  # <- SD405
        return torch.bmm(weights, v)

ScaledDotProduct()(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "NumPy, the wrong way round": """
def attend(q, k, v):
    d_k = q.shape[-1]
    s = q @ k.T * np.sqrt(d_k)  # <- SD405
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v

def run(n, m, d_k):
    return attend(np.zeros((n, d_k)), np.zeros((m, d_k)), np.zeros((m, d_k)))

run(3, 5, 8)
""",
    "one projection of queries, keys and values": """
class Single(nn.Module):
    def __init__(self, width, d_k, d_v):
        super().__init__()
        self.d_k, self.d_v = d_k, d_v
        self.qkv = nn.Linear(width, 2 * d_k + d_v)

    def forward(self, x):
        q, k, v = self.qkv(x).split([self.d_k, self.d_k, self.d_v], dim=-1)
        s = q @ k.transpose(-1, -2)  # <- SD405
        return s.softmax(-1) @ v
""",
    "weights of another kind, which a caller need not give": """
class Weighed(Heads):
    def forward(self, x, given=None):
        q, k, v = self.parts(x)
        s = q @ k.transpose(-2, -1)  # <- SD405
        if given is not None:
            s = s * given
        return s.softmax(-1) @ v

Weighed(32, 4)(torch.randn(2, 5, 32))
""",
    "a width that nothing reads": """
def attend(query, key, value, mask=None):
    d_k = query.size(-1)
    s = torch.matmul(query, key.transpose(-2, -1))  # <- SD405
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    return torch.matmul(s.softmax(-1), value)
""",
    "a scale that is 1": """
class Single(nn.Module):
    def __init__(self, width, d_k):
        super().__init__()
        self.scale = 1.0  # <- SD405
        self.q, self.k = nn.Linear(width, d_k), nn.Linear(width, d_k)

    def forward(self, x, y):
        s = self.q(x) @ self.k(y).transpose(1, 2) * self.scale
        return s.softmax(-1) @ y
""",
    "the formula in a comment": """
class Single(nn.Module):
    def forward(self, q, k, v):
        # softmax(Q K^T / sqrt(d_k)) V
        s = q @ k.transpose(1, 2)  # <- SD405
        return s.softmax(-1) @ v
""",
    "scaled in another method": """
class Chunked(nn.Module):
    def whole(self, q, k, v):
        return (q @ k.transpose(1, 2) / math.sqrt(q.size(-1))).softmax(-1) @ v

    def forward(self, q, k, v):
        return (q @ k.transpose(1, 2)).softmax(-1) @ v  # <- SD405
""",
    "a query that is turned, keys from a cache": """
class Cached(nn.Module):
    def __init__(self, width, heads, longest):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.keys = torch.zeros(longest, heads, self.size)
        self.values = torch.zeros(longest, heads, self.size)

    def forward(self, x, start, angles):
        t, _ = x.shape
        q = self.q(x).view(t, self.heads, self.size)
        q = q * angles.cos() + q.flip(-1) * angles.sin()
        self.keys[start : start + t] = self.k(x).view(t, self.heads, self.size)
        self.values[start : start + t] = self.v(x).view(t, self.heads, self.size)
        k, v = self.keys[: start + t].transpose(0, 1), self.values[: start + t].transpose(0, 1)
        s = q.transpose(0, 1) @ k.transpose(1, 2)  # <- SD405
        return s.softmax(-1) @ v
""",
}

WRONG |= {
    "the width of the model, for heads of a width of their own": """
class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.root = math.sqrt(width)  # <- SD405

    def forward(self, q, k, v):
        return torch.softmax(torch.matmul(q, k.transpose(2, 3)) / self.root, -1) @ v

class Heads(nn.Module):
    def __init__(self, n, d_model, d_k):
        super().__init__()
        self.n, self.d_k = n, d_k
        self.q, self.k, self.v = (nn.Linear(d_model, n * d_k) for _ in range(3))
        self.attend = Scaled(d_model)

    def forward(self, x):
        B, T, d_model = x.size()
        q, k, v = (f(x).view(B, T, self.n, self.d_k).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.attend(q, k, v)
""",
    "the width of the model, for heads with a weight each": """
class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.root = np.power(width, 0.5)  # <- SD405

    def forward(self, q, k, v):
        return torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / self.root, -1), v)

class Heads(nn.Module):
    def __init__(self, n, d_model, d_k):
        super().__init__()
        self.n, self.d_k = n, d_k
        self.q, self.k, self.v = (nn.Parameter(torch.randn(n, d_model, d_k)) for _ in range(3))
        self.attend = Scaled(d_model)

    def split(self, x, weight):
        B, T, d_model = x.size()
        return torch.bmm(x.repeat(self.n, 1, 1).view(self.n, -1, d_model), weight).view(-1, T, self.d_k)

    def forward(self, x):
        return self.attend(self.split(x, self.q), self.split(x, self.k), self.split(x, self.v))
""",
}

RIGHT = {
    "heads with a weight each, and their own width": """
class Heads(nn.Module):
    def __init__(self, n, d_model, d_k):
        super().__init__()
        self.n, self.root = n, np.power(d_k, 0.5)
        self.q, self.k, self.v = (nn.Parameter(torch.randn(n, d_model, d_k)) for _ in range(3))

    def split(self, x, weight):
        B, T, d_model = x.size()
        return torch.bmm(x.repeat(self.n, 1, 1).view(self.n, -1, d_model), weight).view(-1, T, weight.size(2))

    def forward(self, x):
        q, k, v = self.split(x, self.q), self.split(x, self.k), self.split(x, self.v)
        return torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / self.root, -1), v)
""",
    "the width of one head": """
class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.root = math.sqrt(width)

    def forward(self, q, k, v):
        return torch.softmax(torch.matmul(q, k.transpose(2, 3)) / self.root, -1) @ v

class Heads(nn.Module):
    def __init__(self, n, d_model, d_k):
        super().__init__()
        self.n, self.d_k = n, d_k
        self.q, self.k, self.v = (nn.Linear(d_model, n * d_k) for _ in range(3))
        self.attend = Scaled(d_k)

    def forward(self, x):
        B, T, d_model = x.size()
        q, k, v = (f(x).view(B, T, self.n, self.d_k).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.attend(q, k, v)
""",
    "the general score of steps that were flattened on the way": """
class Decoder(nn.Module):
    def __init__(self, d, d_emb):
        super().__init__()
        self.cell = nn.GRU(d_emb + d, d, batch_first=True)
        self.attn = nn.Linear(d, d)

    def forward(self, state, memory):
        batch, steps = memory.size(0), memory.size(1)
        keys = self.attn(memory.contiguous().view(batch * steps, -1)).view(batch, steps, -1)
        scores = keys.bmm(state[0].unsqueeze(2)).squeeze(2)
        return F.softmax(scores, 1).unsqueeze(1).bmm(memory)
""",
    "switched off by one caller, to see what it does": """
def attend(q, k, v, scale=True):
    scores = torch.matmul(q, k.transpose(-2, -1))
    if scale:
        scores = scores / math.sqrt(q.shape[-1])
    return F.softmax(scores, dim=-1) @ v


class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        return attend(q, k, v)


def compare(x):
    q, k, v = Model(32, 4).parts(x)
    return attend(q, k, v, scale=True), attend(q, k, v, scale=False)


compare(torch.randn(2, 5, 32))
""",
    "the head": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        return (q @ k.transpose(-2, -1) * self.scale).softmax(-1) @ v

Model(32, 4)(torch.randn(2, 5, 32))
""",
    "the last axis, whatever it is": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        return (q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))).softmax(-1) @ v
""",
    "a fourth root on either side": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        f = self.size ** -0.25
        return ((q * f) @ (k * f).transpose(-2, -1)).softmax(-1) @ v
""",
    "Luong's dot": """
def attend(state, memory):
    B, T, D = memory.shape
    weights = torch.bmm(memory, state.unsqueeze(2)).squeeze(2).softmax(1)
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)

attend(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
    "Luong's general, in heads": """
class General(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.w = heads, nn.Linear(d, d, bias=False)

    def forward(self, state, memory):
        B, T, D = memory.shape
        q = self.w(state).view(B, self.heads, 1, D // self.heads)
        k = memory.view(B, T, self.heads, D // self.heads).transpose(1, 2)
        return (q @ k.transpose(-2, -1)).softmax(-1) @ k

General(8, 2)(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
    "a width that is read, a temperature that is 1": """
class Dot(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def forward(self, q, k, v):
        d = q.size(-1)
        s = q.view(-1, d) @ k.view(-1, d).t() / self.temperature
        return s.softmax(-1) @ v
""",
    "a scale that a caller may choose": """
class Dot(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = scale

    def forward(self, q, k, v):
        return (q @ k.transpose(1, 2) * self.scale).softmax(-1) @ v
""",
    "cosine scores with a learned temperature": """
class Model(Heads):
    def __init__(self, width, heads):
        super().__init__(width, heads)
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))

    def forward(self, x):
        q, k, v = self.parts(x)
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        return (q @ k.transpose(-2, -1) * self.temperature).softmax(-1) @ v
""",
    "a scale for every head": """
class Model(Heads):
    def __init__(self, width, heads):
        super().__init__(width, heads)
        self.each = nn.Parameter(torch.ones(1, heads, 1, 1))

    def forward(self, x):
        q, k, v = self.parts(x)
        return ((q * self.each) @ k.transpose(-2, -1)).softmax(-1) @ v
""",
    "a position bias and no scale, as T5": """
class Model(Heads):
    def __init__(self, width, heads, longest):
        super().__init__(width, heads)
        self.bias = nn.Parameter(torch.zeros(heads, longest, longest))

    def forward(self, x):
        q, k, v = self.parts(x)
        s = q @ k.transpose(-2, -1) + self.bias[:, : x.size(1), : x.size(1)]
        return s.softmax(-1) @ v
""",
    "convolutions, as SAGAN": """
class Spatial(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.q, self.k, self.v = nn.Conv2d(c, c // 8, 1), nn.Conv2d(c, c // 8, 1), nn.Conv2d(c, c, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q = self.q(x).view(b, -1, h * w).permute(0, 2, 1)
        k = self.k(x).view(b, -1, h * w)
        attention = torch.softmax(torch.bmm(q, k), dim=-1)
        return torch.bmm(self.v(x).view(b, -1, h * w), attention.permute(0, 2, 1))

Spatial(16)(torch.randn(2, 16, 4, 4))
""",
    "one over the size, at once": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        return (q @ k.transpose(-2, -1) / self.size).softmax(-1) @ v
""",
    "norms of queries and keys by another module": """
class Model(Heads):
    def __init__(self, width, heads, norm):
        super().__init__(width, heads)
        self.norm_q, self.norm_k = norm(self.size), norm(self.size)

    def forward(self, x):
        q, k, v = self.parts(x)
        return (self.norm_q(q) @ self.norm_k(k).transpose(-2, -1)).softmax(-1) @ v
""",
    "its own scale": """
class Model(Heads):
    def forward(self, x):
        q, k, v = self.parts(x)
        return F.scaled_dot_product_attention(q * self.scale, k, v, scale=1.0)
""",
    "a scale that a setting decides": """
class Model(Heads):
    def forward(self, x, scaled):
        q, k, v = self.parts(x)
        s = q @ k.transpose(-2, -1)
        if scaled:
            s = s * self.scale
        return s.softmax(-1) @ v
""",
    "an embedding times the root of its size": """
def attend(tokens, table, d_model):
    x = table(tokens) * math.sqrt(d_model)
    return (x @ x.transpose(1, 2) / math.sqrt(d_model)).softmax(-1) @ x

attend(torch.zeros(2, 5, dtype=torch.long), nn.Embedding(11, 8), 8)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD405") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD405") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["twice"], "SD405") + "\n" == MESSAGE


MESSAGE = """\
error[SD405] wrong-score-scale: scores are scaled twice by the root of `size`
  --> model.py:28:13
   |
27 |         q = q * self.scale
   |             -------------- the first time
28 |         s = q @ k.transpose(-2, -1) / self.size ** 0.5  # <- SD405
   |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |             ----------------------- the scores
   = why: a product of d independent features of variance 1 has variance d; dividing by sqrt(d) brings it back to 1
   = help: scale once: leave self.size ** 0.5 out here
   = more: shapedoc explain SD405
"""
