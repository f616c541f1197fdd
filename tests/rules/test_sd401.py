"""SD401: the softmax and the sum over one axis."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import math

import einops
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "weights on the wrong side of the product": """
def attend(scores, memory):
    B, T = scores.shape
    weights = torch.softmax(scores.unsqueeze(1), dim=-1)  # <- SD401
    return torch.bmm(memory, weights)
""",
    "self-attention in a class without driver": """
class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def cut(self, x):
        b, n, c = x.shape
        return x.view(b, n, self.heads, c // self.heads).transpose(1, 2)

    def forward(self, x, keep=None):
        q, k, v = self.cut(self.q(x)), self.cut(self.k(x)), self.cut(self.v(x))
        logits = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if keep is not None:
            logits = logits.masked_fill(keep == 0, -1e9)
        p = logits.softmax(
            dim=-2,  # <- SD401
        )
        return F.dropout(p, 0.1, self.training) @ v
""",
    "over the heads": """
def attend(q, k, v):
    B, H, L, D = q.shape
    return torch.matmul(torch.softmax(q @ k.mT * D ** -0.5, 1), v)  # <- SD401

attend(torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8))
""",
    "rows of every query, normalised down the column": """
class Attend(nn.Module):
    def __init__(self, width, kind="general"):
        super().__init__()
        self.kind = kind
        if kind == "general":
            self.into = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width * 2, width, bias=False)
        self.share = nn.Softmax(dim=0)  # <- SD401
        self.tanh = nn.Tanh()

    def forward(self, asked, context):
        batch, asks, width = asked.size()
        steps = context.size(1)
        if self.kind == "general":
            asked = asked.reshape(batch * asks, width)
            asked = self.into(asked)
            asked = asked.reshape(batch, asks, width)
        scores = torch.bmm(asked, context.transpose(1, 2).contiguous())
        scores = scores.view(batch * asks, steps)
        weights = self.share(scores)
        weights = weights.view(batch, asks, steps)
        mix = torch.bmm(weights, context)
        both = torch.cat((mix, asked), dim=2).view(batch * asks, 2 * width)
        return self.tanh(self.out(both).view(batch, asks, width)), weights
""",
    "time first, in NumPy, written out": """
def pool(outputs, query):
    scores = np.einsum("tbd,bd->tb", outputs, query)
    scores = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=1, keepdims=True)  # <- SD401
    return (weights[:, :, None] * outputs).sum(axis=0)

pool(np.zeros((7, 3, 4)), np.zeros((3, 4)))
""",
    "a module that was built with the axis": """
class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)
        self.norm = nn.Softmax(dim=0)  # <- SD401

    def forward(self, x):
        b, t, d = x.shape
        a = self.norm(self.score(x).squeeze(-1))
        return torch.bmm(a.unsqueeze(1), x).squeeze(1)
""",
    "einsum": """
def attend(q, k, v):
    s = torch.einsum("bqd,bkd->bqk", q, k)
    return torch.einsum("bqk,bkd->bqd", F.softmax(s, dim=1), v)  # <- SD401

attend(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "values on the left": """
def attend(query, memory):
    B, T, D = memory.shape
    e = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
    a = F.softmax(e, dim=0)  # <- SD401
    return torch.bmm(memory.transpose(1, 2), a.unsqueeze(2)).squeeze(2)

attend(torch.randn(2, 8), torch.randn(2, 5, 8))
""",
    "einops": """
def attend(x, wq, wk, wv):
    q, k, v = (einops.rearrange(x @ w, "b n (h d) -> b h n d", h=4) for w in (wq, wk, wv))
    p = (q @ einops.rearrange(k, "b h n d -> b h d n")).softmax(dim=2)  # <- SD401
    return einops.rearrange(p @ v, "b h n d -> b n (h d)")

w = torch.randn(3, 16, 16)
attend(torch.randn(2, 6, 16), w[0], w[1], w[2])
""",
    "a helper whose axis is a parameter stands at its call": """
def normalise(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)

def attend(q, k, v):
    return normalise(q @ k.T, 0) @ v  # <- SD401

attend(np.zeros((3, 8)), np.zeros((5, 8)), np.zeros((5, 8)))
""",
    "over the batch, values out of sight": """
class Scorer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        b, t, d = x.shape
        h, _ = self.rnn(x)
        return torch.softmax(self.score(h).squeeze(2), dim=0)  # <- SD401
""",
    "one branch of two": """
class Attention(nn.Module):
    def __init__(self, n_feat, p):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(n_feat, n_feat), nn.Linear(n_feat, n_feat), nn.Linear(n_feat, n_feat)
        self.drop = nn.Dropout(p)

    def forward(self, x, mask=None):
        n_batch, time, n_feat = x.shape
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(n_feat)
        if mask is not None:
            hidden = mask.eq(0)
            self.attn = torch.softmax(
                scores.masked_fill(hidden, -1e9),
                dim=1,  # <- SD401
            ).masked_fill(hidden, 0.0)
        else:
            self.attn = torch.softmax(scores, dim=2)
        return self.drop(self.attn) @ self.v(x)
""",
    "scores that nobody knows": """
class Attention(nn.Module):
    def forward(self, query, memory, mask=None):
        scores = self.score(query, memory)
        weights = F.softmax(scores, dim=-2)  # <- SD401
        return F.dropout(weights, 0.1, self.training).matmul(memory)

    def score(self, query, memory):
        raise NotImplementedError
""",
    "scores of which the last axes are known": """
class Graph(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.w = nn.Parameter(torch.empty(d_in, d_out))

    def forward(self, h, adjacency):
        wh = torch.mm(h, self.w)
        scores = torch.where(adjacency > 0, wh @ wh.t(), -1e9)
        attention = F.softmax(scores, dim=0)  # <- SD401
        return torch.matmul(F.dropout(attention, 0.1, self.training), wh)
""",
    "weights that are returned, over the batch of a product": """
class Score(nn.Module):
    def __init__(self, d_s, d_h, d):
        super().__init__()
        self.w = nn.Linear(d_s + d_h, d)
        self.v = nn.Parameter(torch.rand(d))

    def forward(self, state, memory):
        steps = memory.size(1)
        both = torch.cat((state.unsqueeze(1).repeat(1, steps, 1), memory), dim=2)
        energy = torch.tanh(self.w(both)).permute(0, 2, 1)
        v = self.v.repeat(memory.size(0), 1).unsqueeze(1)
        scores = torch.bmm(v, energy).squeeze(1)
        return F.softmax(scores, dim=0)  # <- SD401
""",
    "weights that are returned, over what is called the batch": """
class Radix(nn.Module):
    def forward(self, x):
        batch = x.size(0)
        x = F.softmax(x.view(batch, 2, 4, -1).transpose(1, 2), dim=0)  # <- SD401
        return x.reshape(batch, -1)
""",
}

WRONG |= {
    "everything at once, in NumPy": """
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def attend(query, key, value):
    T_dec, d = query.shape
    T_enc, d = key.shape
    scores = query @ key.T / np.sqrt(d)
    return softmax(scores) @ value  # <- SD401
""",
    "everything at once, of a batch": """
def attend(x):
    B, T, d = x.shape
    scores = torch.bmm(x, x.transpose(1, 2)) / d**0.5
    weights = torch.exp(scores)
    weights = weights / weights.sum()  # <- SD401
    return torch.bmm(weights, x)
""",
}

WRONG |= {
    "over the batch, where the weights are all that is given": """
class Weigh(nn.Module):
    def __init__(self, d_h, d_s):
        super().__init__()
        self.join, self.v = nn.Linear(d_h + d_s, d_s), nn.Linear(d_s, 1, bias=False)

    def forward(self, state, memory, mask):
        steps = memory.shape[0]
        state = state.unsqueeze(1).repeat(1, steps, 1)
        memory = memory.permute(1, 0, 2)
        energy = torch.tanh(self.join(torch.cat((state, memory), dim=2)))
        scores = self.v(energy).squeeze(2).masked_fill(mask == 0, -1e10)
        return torch.softmax(scores, dim=0)  # <- SD401
""",
}

RIGHT = {
    "over the keys, where the weights are all that is given": """
class Weigh(nn.Module):
    def __init__(self, d_h, d_s):
        super().__init__()
        self.join, self.v = nn.Linear(d_h + d_s, d_s), nn.Linear(d_s, 1, bias=False)

    def forward(self, state, memory, mask):
        steps = memory.shape[0]
        state = state.unsqueeze(1).repeat(1, steps, 1)
        memory = memory.permute(1, 0, 2)
        energy = torch.tanh(self.join(torch.cat((state, memory), dim=2)))
        scores = self.v(energy).squeeze(2).masked_fill(mask == 0, -1e10)
        return torch.softmax(scores, dim=1)
""",
    "words of a sum that is bent and mapped to them": """
class Words(nn.Module):
    def __init__(self, d_h, d_s, words):
        super().__init__()
        self.w, self.u, self.out = nn.Linear(d_s, d_s), nn.Linear(d_h, d_s), nn.Linear(d_s, words)

    def forward(self, state, memory):
        B, T, d_h = memory.shape
        return torch.softmax(self.out(torch.tanh(self.w(state).unsqueeze(1) + self.u(memory))), dim=-1)
""",
    "shares that are shared again along the other axis": """
class Compete(nn.Module):
    def __init__(self, d, share=1, mean=2):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.share, self.mean, self.scale = share, mean, d**-0.5

    def forward(self, asking, asked):
        scores = torch.einsum("bid,bjd->bij", self.q(asking), self.k(asked)) * self.scale
        weights = scores.softmax(dim=self.share) + 1e-8
        weights = weights / weights.sum(dim=self.mean, keepdim=True)
        return torch.einsum("bjd,bij->bid", self.v(asked), weights)

class Both(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.there = Compete(d)
        self.back = Compete(d, share=2, mean=1)

    def forward(self, slots, x):
        slots = self.there(slots, x)
        return slots, self.back(x, slots)
""",
    "rows of every query, normalised down the column": """
class Attend(nn.Module):
    def __init__(self, width, kind="general"):
        super().__init__()
        self.kind = kind
        if kind == "general":
            self.into = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width * 2, width, bias=False)
        self.share = nn.Softmax(dim=-1)
        self.tanh = nn.Tanh()

    def forward(self, asked, context):
        batch, asks, width = asked.size()
        steps = context.size(1)
        if self.kind == "general":
            asked = asked.reshape(batch * asks, width)
            asked = self.into(asked)
            asked = asked.reshape(batch, asks, width)
        scores = torch.bmm(asked, context.transpose(1, 2).contiguous())
        scores = scores.view(batch * asks, steps)
        weights = self.share(scores)
        weights = weights.view(batch, asks, steps)
        mix = torch.bmm(weights, context)
        both = torch.cat((mix, asked), dim=2).view(batch * asks, 2 * width)
        return self.tanh(self.out(both).view(batch, asks, width)), weights
""",
    "an outer product of weights and values on purpose": """
def attend(scores, memory):
    weights = torch.softmax(scores, dim=-1).unsqueeze(1)
    return torch.bmm(memory.mean(-1).unsqueeze(2), weights)
""",
    "one map of scores for both directions, of which one is chosen": """
def coattend(a, b):
    scores = torch.bmm(a, b.transpose(1, 2))
    rows, columns = F.softmax(scores, dim=2), F.softmax(scores, dim=1)
    return torch.bmm(rows, b), torch.bmm(columns, torch.bmm(rows, b))
""",
    "slots of which the last axes are known": """
class Slots(nn.Module):
    def forward(self, slots, inputs, mask):
        scores = torch.where(mask, torch.mm(slots, inputs.t()), -1e9)
        weights = F.softmax(scores, dim=0)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return torch.matmul(weights, inputs)
""",
    "rows that a product takes one by one": """
def attend(v, energy):
    scores = torch.bmm(v, energy).squeeze(1)
    return F.softmax(scores, dim=1)

attend(torch.randn(2, 1, 8), torch.randn(2, 8, 5))
""",
    "everything at once, of one query": """
def attend(state, memory):
    T_enc, d = memory.shape
    scores = memory @ state
    weights = np.exp(scores) / np.sum(np.exp(scores))
    return weights @ memory
""",
    "everything at once, of a column": """
def attend(state, memory):
    T_enc, d = memory.shape
    scores = memory @ state.reshape(d, 1)
    weights = np.exp(scores) / np.sum(np.exp(scores))
    return memory.T @ weights
""",
    "a map of two axes that are both summed": """
def attend(image, scores):
    H, W, C = image.shape
    H, W = scores.shape
    weights = np.exp(scores) / np.exp(scores).sum()
    return (weights[:, :, None] * image).sum(axis=(0, 1))
""",
    "time first": """
def pool(outputs, query):
    e = (outputs * query).sum(-1)
    a = F.softmax(e, dim=0)
    return (a.unsqueeze(-1) * outputs).sum(0)

pool(torch.randn(7, 3, 4), torch.randn(1, 3, 4))
""",
    "keys first": """
def attend(q, k, v):
    s = k @ q.transpose(-2, -1)
    p = s.softmax(dim=-2)
    return p.transpose(-2, -1) @ v

attend(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "scores with a last axis of 1": """
class Pool(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.s = nn.Linear(d, 1)

    def forward(self, x):
        b, t, d = x.shape
        return (self.s(x).softmax(dim=1) * x).sum(dim=1)

Pool(8)(torch.randn(2, 5, 8))
""",
    "linear attention": """
def linear_attention(q, k, v):
    q, k = q.softmax(dim=-1), k.softmax(dim=-2)
    context = torch.einsum("bnd,bne->bde", k, v)
    return torch.einsum("bnd,bde->bne", q, context)

linear_attention(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "slots compete for inputs": """
def slots(q, k, v):
    attn = torch.einsum("bid,bjd->bij", q, k).softmax(dim=1) + 1e-8
    attn = attn / attn.sum(dim=-1, keepdim=True)
    return torch.einsum("bij,bjd->bid", attn, v)

slots(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "both ways": """
def coattention(a, b):
    s = torch.bmm(a, b.transpose(1, 2))
    to_b = torch.bmm(F.softmax(s, dim=2), b)
    s1, s2 = F.softmax(s, dim=2), F.softmax(s, dim=1)
    to_a = torch.bmm(torch.bmm(s1, s2.transpose(1, 2)), a)
    return torch.cat([a, to_b, to_a], 2)

coattention(torch.randn(2, 3, 8), torch.randn(2, 5, 8))
""",
    "talking heads": """
class Talking(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.mix = nn.Parameter(torch.randn(heads, heads))

    def forward(self, q, k, v):
        p = torch.einsum("bhid,bhjd->bhij", q, k).softmax(dim=-1)
        p = torch.einsum("bhij,hg->bgij", p, self.mix)
        return torch.einsum("bhij,bhjd->bhid", p, v)

Talking(4)(torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8))
""",
    "a bag of instances is the batch": """
class Bag(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(d, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, instances):
        n, d = instances.shape
        weights = torch.softmax(self.a(instances), dim=0)
        return torch.mm(weights.t(), instances)

Bag(8)(torch.randn(9, 8))
""",
    "classes": """
def predict(model, x):
    return F.softmax(model(x), dim=1).argmax(1)

predict(nn.Linear(8, 3), torch.randn(5, 8))
""",
    "experts": """
class Experts(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.gate = nn.Linear(d, n)
        self.experts = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])

    def forward(self, x):
        g = self.gate(x).softmax(-1)
        out = torch.stack([e(x) for e in self.experts], dim=1)
        return (g.unsqueeze(-1) * out).sum(dim=1)

Experts(8, 3)(torch.randn(5, 8))
""",
    "channels": """
def cross_covariance(q, k, v):
    p = (q.transpose(-2, -1) @ k).softmax(dim=-1)
    return (p @ v.transpose(-2, -1)).transpose(-2, -1)

cross_covariance(torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "shapes that nobody knows": """
def attend(scores, values):
    return F.softmax(scores, dim=1) @ values
""",
    "heads joined with the batch": """
def attend(q, k, v, h):
    b, n, c = q.shape
    cut = lambda t: t.view(b, -1, h, c // h).transpose(1, 2).reshape(b * h, -1, c // h)
    p = torch.bmm(cut(q), cut(k).transpose(1, 2)).softmax(dim=2)
    return torch.bmm(p, cut(v)).view(b, h, n, c // h).transpose(1, 2).reshape(b, n, c)

attend(torch.randn(2, 5, 8), torch.randn(2, 6, 8), torch.randn(2, 6, 8), 2)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD401", "SD402", "SD403") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD401", "SD402", "SD403") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["einsum"], "SD401", "SD402", "SD403") + "\n" == MESSAGE


MESSAGE = """\
error[SD401] softmax-over-wrong-axis: softmax over `3` of s, but the weights are summed over `5`
  --> model.py:12:58
   |
11 |     s = torch.einsum("bqd,bkd->bqk", q, k)
   |         ---------------------------------- s is (2, 3, 5)
12 |     return torch.einsum("bqk,bkd->bqd", F.softmax(s, dim=1), v)  # <- SD401
   |                                                          ^ s is (2, 3, 5)
   |            ---------------------------------------------------- the product with v sums over `5`
   |                                         ------------------- `3` is normalised
14 | attend(torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
   | ------------------------------------------------------------------------ in this call of `attend`
   = why: attention weights are shares of what they are summed with: for every query they sum to 1 over the keys
   = note: with this axis the weights of one query do not sum to 1: they are shared among `3`
   = help: normalise the axis that is summed: `dim=-1`
   = more: shapedoc explain SD401
"""


def test_probabilities_are_normalised_along_the_axis_that_is_drawn_from() -> None:
    program = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.head = nn.Linear(d_model, vocab_size)

    def wrong(self, states):
        B, T, d = states.shape
        logits = self.head(states)[:, -1, :]
        probs = F.softmax(logits / 0.8, dim=0)  # <- SD401
        return torch.multinomial(probs, num_samples=1)

    def right(self, states):
        B, T, d = states.shape
        logits = self.head(states)[:, -1, :]
        return torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)

    def one_row(self, state):
        return torch.multinomial(torch.softmax(self.head(state.view(-1)), dim=0), 3)
"""
    assert found(program, "SD401") == expected(program)


def test_what_is_picked_sums_to_one_along_the_axis_that_is_picked_along() -> None:
    program = """\
import torch
import torch.nn.functional as F


def classes(model, images):
    logits = model(images)
    confidence = F.softmax(logits, dim=0)  # <- SD401
    return torch.argmax(confidence, dim=1)


def tokens(model, ids):
    probs = torch.softmax(model(ids)[:, -1, :], dim=-2)  # <- SD401
    return torch.topk(probs, k=1, dim=-1)


def right(model, images):
    confidence = F.softmax(model(images), dim=1)
    return confidence.argmax(dim=1), torch.topk(torch.softmax(model(images), -1), 3)


def experts_that_choose(router, x, count):
    weights = torch.softmax(router(x), dim=-1)
    return torch.topk(weights.transpose(0, 1), count, dim=-1)


def strongest_key(scores):
    weights = torch.softmax(scores, dim=-1)
    return weights.argmax(dim=1), weights.max(dim=1)
"""
    assert found(program, "SD401") == expected(program)
