"""SD605: copies in another order than what they meet."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

CODES = ("SD605",)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "an example that is copied for every beam, without an axis for the beams": """
def beams(memory, mask, beam):
    B, T, d = memory.size()
    mask = mask.view(B, 1, T).repeat(1, beam, 1).view(B * beam, T)
    return memory.repeat(1, beam, 1, 1).view(B * beam, T, -1), mask  # <- SD605
""",
    "a mask of unknown rank, copied for heads that are joined behind the batch": """
class Heads(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, width // n_heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def split(self, x):
        B, T, width = x.size()
        return x.view(B, T, self.n_heads, self.d_head).transpose(1, 2).reshape(B * self.n_heads, T, self.d_head)

    def forward(self, q, k, mask=None):
        scores = self.split(self.query(q)) @ self.split(self.key(k)).transpose(1, 2) / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(mask.repeat(self.n_heads, 1, 1), float("-inf"))  # <- SD605
        return scores.softmax(dim=-1)
""",
    "the state of every beam": """
def search(cell, state, memory, k):
    B, T, d = memory.shape
    memory = memory.repeat_interleave(k, dim=0)
    state = state.view(B, d).repeat(k, 1)  # <- SD605
    scores = torch.einsum("bd,btd->bt", state, memory)
    return scores.view(B, k, T)

search(None, torch.randn(4, 6), torch.randn(4, 9, 6), 3)
""",
    "the memory of every beam": """
class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell = nn.GRUCell(d, d)

    def forward(self, token, state, memory):
        state = self.cell(token, state)
        return torch.einsum("bd,btd->bt", state, memory), state

def search(decoder, state, memory, k):
    B, T, d = memory.shape
    memory = memory.repeat(k, 1, 1)  # <- SD605
    state = state.view(B, d).repeat_interleave(k, dim=0)
    scores, state = decoder(state, state, memory)
    return state.view(B, k, d), scores

search(Decoder(6), torch.randn(4, 6), torch.randn(4, 9, 6), 3)
""",
    "a mask for every head of a module": """
class CrossLayer(nn.Module):
    def __init__(self, d_model, nhead, d_ff=1024):
        super().__init__()
        self.nhead = nhead
        self.attn = nn.MultiheadAttention(d_model, nhead)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, video, text, video_valid, text_valid):
        batch_size = video.shape[1]
        mask = torch.einsum("bl,bs->bls", video_valid.float(), text_valid.float()) == 0
        mask = mask.repeat(self.nhead, 1, 1)  # <- SD605
        out = self.attn(video, text, text, attn_mask=mask)[0]
        return self.norm(video + self.linear2(F.relu(self.linear1(out))))
""",
    "a mask beside heads that stand first": """
class Heads(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head, self.d_k = n_head, d_model // n_head
        self.qs = nn.Linear(d_model, d_model, bias=False)
        self.ks = nn.Linear(d_model, d_model, bias=False)
        self.vs = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model)

    def split(self, x):
        n, length, width = x.size()
        x = x.view(n, length, self.n_head, width // self.n_head)
        return x.permute(2, 0, 1, 3).reshape(-1, length, width // self.n_head)

    def forward(self, q, k, v, mask=None):
        n, length, width = q.size()
        q, k, v = self.split(self.qs(q)), self.split(self.ks(k)), self.split(self.vs(v))
        scores = torch.bmm(q, k.transpose(1, 2)) / self.d_k**0.5
        if mask is not None:
            mask = mask.repeat_interleave(self.n_head, dim=0)  # <- SD605
            scores = scores.masked_fill(mask == 0, -1e10)
        x = torch.bmm(scores.softmax(dim=-1), v)
        x = x.view(self.n_head, n, length, self.d_k).permute(1, 2, 0, 3).reshape(n, length, width)
        return self.out(x)
""",
    "a mask for heads in the batch": """
def attend(q, k, v, mask, h):
    B, T, d = q.shape
    def split(x):
        return x.view(B, T, h, d // h).transpose(1, 2).reshape(B * h, T, d // h)
    q, k, v = split(q), split(k), split(v)
    mask = mask.view(B, T).bool().repeat(h, 1)  # <- SD605
    return (q @ k.transpose(1, 2)).masked_fill(mask[:, None, :], -1e9).softmax(-1) @ v
""",
    "groups of keys": """
class Grouped(nn.Module):
    def __init__(self, d, n_heads, n_groups):
        super().__init__()
        self.n_heads, self.n_groups, self.d_head = n_heads, n_groups, d // n_heads
        self.q = nn.Linear(d, n_heads * self.d_head)
        self.k = nn.Linear(d, n_groups * self.d_head)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q(x).view(B, T, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k(x).view(B, T, self.n_groups, self.d_head).transpose(1, 2)
        k = k.repeat(1, self.n_heads // self.n_groups, 1, 1)  # <- SD605
        return (q @ k.transpose(2, 3)).softmax(-1)
""",
}

RIGHT = {
    "an example that is copied for every beam": """
def beams(memory, beam):
    B, T, d = memory.size()
    return memory.unsqueeze(1).repeat(1, beam, 1, 1).view(B * beam, T, -1)
""",
    "copies of a whole batch one after the other": """
def copies(memory, times):
    B, T, d = memory.size()
    return memory.repeat(times, 1, 1), memory.repeat(times, 1, 1, 1), memory.repeat(1, 1, 1, 1)
""",
    "one row for all": """
def rows(vector, count):
    (d,) = vector.size()
    return vector.repeat(1, count).view(count, d), vector.view(1, d).repeat(1, count, 1)
""",
    "a mask of unknown rank, copied for heads that are joined before the batch": """
class Heads(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, width // n_heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def split(self, x):
        B, T, width = x.size()
        return x.view(B, T, self.n_heads, self.d_head).permute(2, 0, 1, 3).reshape(self.n_heads * B, T, self.d_head)

    def forward(self, q, k, mask=None):
        scores = self.split(self.query(q)) @ self.split(self.key(k)).transpose(1, 2) / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(mask.repeat(self.n_heads, 1, 1), float("-inf"))
        return scores.softmax(dim=-1)
""",
    "the state of every beam, interleaved": """
def search(cell, state, memory, k):
    B, T, d = memory.shape
    memory = memory.repeat_interleave(k, dim=0)
    state = state.view(B, d).repeat_interleave(k, dim=0)
    scores = torch.einsum("bd,btd->bt", state, memory)
    return scores.view(B, k, T)

search(None, torch.randn(4, 6), torch.randn(4, 9, 6), 3)
""",
    "interleaved": """
def attend(q, k, v, mask, h):
    B, T, d = q.shape
    def split(x):
        return x.view(B, T, h, d // h).transpose(1, 2).reshape(B * h, T, d // h)
    q, k, v = split(q), split(k), split(v)
    mask = mask.view(B, T).bool().repeat_interleave(h, 0)
    return (q @ k.transpose(1, 2)).masked_fill(mask[:, None, :], -1e9).softmax(-1) @ v
""",
    "a mask for every head of a module": """
class CrossLayer(nn.Module):
    def __init__(self, d_model, nhead, d_ff=1024):
        super().__init__()
        self.nhead = nhead
        self.attn = nn.MultiheadAttention(d_model, nhead)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, video, text, video_valid, text_valid):
        batch_size = video.shape[1]
        mask = torch.einsum("bl,bs->bls", video_valid.float(), text_valid.float()) == 0
        mask = mask.repeat_interleave(self.nhead, dim=0)
        out = self.attn(video, text, text, attn_mask=mask)[0]
        return self.norm(video + self.linear2(F.relu(self.linear1(out))))
""",
    "a mask beside heads that stand first": """
class Heads(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head, self.d_k = n_head, d_model // n_head
        self.qs = nn.Linear(d_model, d_model, bias=False)
        self.ks = nn.Linear(d_model, d_model, bias=False)
        self.vs = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model)

    def split(self, x):
        n, length, width = x.size()
        x = x.view(n, length, self.n_head, width // self.n_head)
        return x.permute(2, 0, 1, 3).reshape(-1, length, width // self.n_head)

    def forward(self, q, k, v, mask=None):
        n, length, width = q.size()
        q, k, v = self.split(self.qs(q)), self.split(self.ks(k)), self.split(self.vs(v))
        scores = torch.bmm(q, k.transpose(1, 2)) / self.d_k**0.5
        if mask is not None:
            mask = mask.repeat(self.n_head, 1, 1)
            scores = scores.masked_fill(mask == 0, -1e10)
        x = torch.bmm(scores.softmax(dim=-1), v)
        x = x.view(self.n_head, n, length, self.d_k).permute(1, 2, 0, 3).reshape(n, length, width)
        return self.out(x)
""",
    "heads outside of the batch": """
def attend(x, mask, h):
    B, T, d = x.shape
    heads = torch.cat(x.split(d // h, dim=2), dim=0)
    mask = mask.view(B, T).bool().repeat(h, 1)
    return (heads @ heads.transpose(1, 2)).masked_fill(mask[:, None, :], -1e9).softmax(-1) @ heads
""",
    "a state for every step": """
def expand(state, memory):
    B, T, d = memory.shape
    return memory + state.view(B, 1, d).repeat(1, T, 1)
""",
    "one query for the batch": """
def attend(query, memory):
    B, T, d = memory.shape
    return query.view(1, 1, d).repeat(B, 1, 1) @ memory.transpose(1, 2)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, *CODES) == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], *CODES) == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["a mask for heads in the batch"], CODES[0]) + "\n" == MESSAGE


MESSAGE = """\
error[SD605] repeat-order: `repeat` orders the copies of mask.view(B, T).bool() as `h` x `B`, where q @ \
k.transpose(1, 2) is ordered as `B` x `h`
  --> model.py:12:12
   |
12 |     mask = mask.view(B, T).bool().repeat(h, 1)  # <- SD605
   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ mask.view(B, T).bool() is (B*h, T), should be the axis in the \
order `B` x `h`
13 |     return (q @ k.transpose(1, 2)).masked_fill(mask[:, None, :], -1e9).softmax(-1) @ v
   |            ----------------------------------------------------------- mask[:, None, :] meets q @ \
k.transpose(1, 2) here
   = why: the sizes agree and the order does not: element i of one belongs to another element than i of the other
   = help: use `repeat_interleave`, which keeps the copies of one element together
   = more: shapedoc explain SD605
"""
