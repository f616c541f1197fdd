"""Right attention modules as they stand in public code, each with a call: a recorder must find no fault in them.

Rewritten from their papers and from torch's own modules; none of it is anybody's text.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["CALLS"]

D, HEADS = 12, 3


def padding(lengths: list[int], steps: int) -> Tensor:
    return torch.arange(steps)[None, :] >= torch.tensor(lengths)[:, None]


def self_attention() -> Any:
    x = torch.randn(2, 5, D)
    return nn.MultiheadAttention(D, HEADS, batch_first=True)(x, x, x, key_padding_mask=padding([5, 3], 5))


def self_attention_time_first() -> Any:
    x = torch.randn(5, 2, D)
    return nn.MultiheadAttention(D, HEADS)(x, x, x, attn_mask=torch.ones(5, 5).triu(1).bool())


def cross_attention_other_widths() -> Any:
    q, k, v = torch.randn(2, 5, D), torch.randn(2, 7, 8), torch.randn(2, 7, 9)
    return nn.MultiheadAttention(D, HEADS, kdim=8, vdim=9, batch_first=True)(q, k, v, need_weights=False)


def encoder_layer() -> Any:
    layer = nn.TransformerEncoderLayer(D, HEADS, 24, batch_first=True)
    return layer(torch.randn(2, 5, D), src_key_padding_mask=padding([5, 4], 5))


def encoder_time_first() -> Any:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, HEADS, 24), 2, enable_nested_tensor=False)
    return encoder(torch.randn(5, 2, D))


def decoder_layer() -> Any:
    layer = nn.TransformerDecoderLayer(D, HEADS, 24, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    return layer(torch.randn(2, 4, D), torch.randn(2, 7, D), tgt_mask=mask, memory_key_padding_mask=padding([7, 5], 7))


def decoder() -> Any:
    stack = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, HEADS, 24), 2)
    return stack(torch.randn(4, 2, D), torch.randn(7, 2, D))


def transformer() -> Any:
    model = nn.Transformer(D, HEADS, 1, 1, 24, batch_first=True)
    return model(torch.randn(2, 7, D), torch.randn(2, 4, D), tgt_mask=model.generate_square_subsequent_mask(4))


def fused_causal() -> Any:
    q, k, v = (torch.randn(2, HEADS, 5, 4) for _ in range(3))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def fused_with_mask() -> Any:
    q, k, v = torch.randn(2, HEADS, 5, 4), torch.randn(2, HEADS, 7, 4), torch.randn(2, HEADS, 7, 6)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~padding([7, 4], 7)[:, None, None, :])


def additive_score() -> Any:
    w_q, w_k, w_v = nn.Linear(6, 8, bias=False), nn.Linear(10, 8, bias=False), nn.Linear(8, 1, bias=False)
    queries, keys, values = torch.randn(2, 4, 6), torch.randn(2, 7, 10), torch.randn(2, 7, 5)
    features = torch.tanh(w_q(queries).unsqueeze(2) + w_k(keys).unsqueeze(1))
    scores = w_v(features).squeeze(-1).masked_fill(padding([7, 5], 7)[:, None, :], -1e6)
    return torch.bmm(F.softmax(scores, dim=-1), values)


class Heads(nn.Module):
    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.d_head = n_heads, width // n_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, steps, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, steps, self.n_heads, self.d_head).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        hidden = torch.ones(steps, steps, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, steps, width))


def heads() -> Any:
    return Heads(D, HEADS)(torch.randn(2, 5, D))


class Alibi(nn.Module):
    """Linear biases on the distance: https://arxiv.org/abs/2108.12409."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads))

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        steps = q.shape[2]
        distance = torch.arange(steps)[None, :] - torch.arange(steps)[:, None]
        bias = self.slopes[:, None, None] * distance[None, :, :].clamp(max=0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + bias
        scores = scores.masked_fill(distance > 0, float("-inf"))
        return scores.softmax(dim=-1) @ v


def alibi() -> Any:
    q, k, v = (torch.randn(2, HEADS, 5, 4) for _ in range(3))
    return Alibi(HEADS)(q, k, v)


def rotate_half(x: Tensor) -> Tensor:
    one, two = x.chunk(2, dim=-1)
    return torch.cat((-two, one), dim=-1)


def rotary() -> Any:
    """Rotary positions: https://arxiv.org/abs/2104.09864."""
    q, k, v = (torch.randn(2, HEADS, 5, 4) for _ in range(3))
    rates = 1.0 / 10000 ** (torch.arange(0, 4, 2) / 4)
    angles = torch.outer(torch.arange(5), rates)
    cos, sin = torch.cat((angles, angles), dim=-1).cos(), torch.cat((angles, angles), dim=-1).sin()
    q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
    return (q @ k.transpose(-2, -1) / 2).softmax(dim=-1) @ v


class Relative(nn.Module):
    """A learned bias for each distance and head, as in T5."""

    def __init__(self, n_heads: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.bias = nn.Embedding(2 * reach + 1, n_heads)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        here, there = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
        distance = (there - here).clamp(-self.reach, self.reach) + self.reach
        scores = q @ k.transpose(-2, -1) + self.bias(distance).permute(2, 0, 1).unsqueeze(0)
        return scores.softmax(dim=-1) @ v


def relative() -> Any:
    q, k, v = torch.randn(2, HEADS, 5, 4), torch.randn(2, HEADS, 7, 4), torch.randn(2, HEADS, 7, 4)
    return Relative(HEADS, 3)(q, k, v)


def grouped_queries() -> Any:
    q, k, v = torch.randn(2, 6, 5, 4), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4)
    k, v = k.repeat_interleave(3, dim=1), v.repeat_interleave(3, dim=1)
    return (q @ k.transpose(-2, -1) / math.sqrt(4)).softmax(dim=-1) @ v


def multi_query() -> Any:
    q, k, v = torch.randn(2, 6, 5, 4), torch.randn(2, 1, 5, 4), torch.randn(2, 1, 5, 4)
    return (q @ k.transpose(-2, -1) / math.sqrt(4)).softmax(dim=-1) @ v


def einsum_heads() -> Any:
    q, k, v = torch.randn(2, 5, HEADS, 4), torch.randn(2, 7, HEADS, 4), torch.randn(2, 7, HEADS, 4)
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(4)
    return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(dim=-1), v)


def linear_attention() -> Any:
    """Kernel features in place of a softmax: https://arxiv.org/abs/2006.16236."""
    q, k, v = (torch.randn(2, HEADS, 5, 4) for _ in range(3))
    q, k = F.elu(q) + 1, F.elu(k) + 1
    summary = torch.einsum("bhnd,bhne->bhde", k, v)
    total = torch.einsum("bhnd,bhd->bhn", q, k.sum(dim=2))
    return torch.einsum("bhnd,bhde->bhne", q, summary) / total.unsqueeze(-1)


def local_windows() -> Any:
    q, k, v = (torch.randn(2, HEADS, 6, 4) for _ in range(3))
    distance = (torch.arange(6)[:, None] - torch.arange(6)[None, :]).abs()
    scores = (q @ k.transpose(-2, -1) / 2).masked_fill(distance > 2, -1e9)
    return scores.softmax(dim=-1) @ v


def pooling() -> Any:
    """Attention over the words of a sentence with one learned query."""
    words, query, project = torch.randn(2, 7, D), nn.Parameter(torch.randn(8)), nn.Linear(D, 8)
    scores = torch.tanh(project(words)) @ query
    weights = scores.masked_fill(padding([7, 4], 7), float("-inf")).softmax(dim=1)
    return (weights.unsqueeze(-1) * words).sum(dim=1)


class Perceiver(nn.Module):
    """Learned latents that read a sequence: https://arxiv.org/abs/2103.03206."""

    def __init__(self, width: int, latents: int) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(latents, width))
        self.attention = nn.MultiheadAttention(width, HEADS, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        query = self.latents.unsqueeze(0).expand(x.shape[0], -1, -1)
        return self.attention(query, x, x)[0]


def perceiver() -> Any:
    return Perceiver(D, 4)(torch.randn(2, 7, D))


class Positions(nn.Module):
    """Sines and cosines, time first as in torch's tutorial."""

    def __init__(self, width: int, longest: int) -> None:
        super().__init__()
        place = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(longest, 1, width)
        table[:, 0, 0::2] = torch.sin(place * rate)
        table[:, 0, 1::2] = torch.cos(place * rate)
        self.register_buffer("table", table)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[: x.size(0)]


def positions_time_first() -> Any:
    return Positions(D, 50)(torch.randn(5, 2, D))


def vision() -> Any:
    """Patches, a class token and learned positions."""
    image = torch.randn(2, 3, 8, 8)
    cut = nn.Conv2d(3, D, kernel_size=4, stride=4)
    token, place = nn.Parameter(torch.zeros(1, 1, D)), nn.Parameter(torch.zeros(1, 5, D))
    patches = cut(image).flatten(2).transpose(1, 2)
    x = torch.cat((token.expand(2, -1, -1), patches), dim=1) + place
    return nn.TransformerEncoderLayer(D, HEADS, 24, batch_first=True)(x)[:, 0]


def pre_norm_block() -> Any:
    x, norm = torch.randn(2, 5, D), nn.LayerNorm(D)
    attention = nn.MultiheadAttention(D, HEADS, batch_first=True)
    grow = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
    y = norm(x)
    x = x + attention(y, y, y, need_weights=False)[0]
    return x + grow(nn.LayerNorm(D)(x))


def squeeze_and_excite() -> Any:
    """Attention over channels."""
    x = torch.randn(2, 8, 5, 5)
    gate = nn.Sequential(nn.Linear(8, 2), nn.ReLU(), nn.Linear(2, 8), nn.Sigmoid())
    return x * gate(x.mean(dim=(2, 3)))[:, :, None, None]


def pointer() -> Any:
    """Scores of an input's positions as the output: https://arxiv.org/abs/1506.03134."""
    memory, state = torch.randn(2, 7, 6), torch.randn(2, 6)
    w_1, w_2, v = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(8, 1)
    scores = v(torch.tanh(w_1(memory) + w_2(state).unsqueeze(1))).squeeze(-1)
    return F.cross_entropy(scores, torch.tensor([1, 6]))


def cached_step() -> Any:
    """One new token after a cache of keys and values."""
    past_k, past_v = torch.randn(2, HEADS, 6, 4), torch.randn(2, HEADS, 6, 4)
    q, k, v = (torch.randn(2, HEADS, 1, 4) for _ in range(3))
    keys, values = torch.cat((past_k, k), dim=2), torch.cat((past_v, v), dim=2)
    return (q @ keys.transpose(-2, -1) / 2).softmax(dim=-1) @ values


def talking_heads() -> Any:
    """Heads are mixed before and after the softmax: https://arxiv.org/abs/2003.02436."""
    q, k, v = (torch.randn(2, HEADS, 5, 4) for _ in range(3))
    before, after = nn.Parameter(torch.randn(HEADS, HEADS)), nn.Parameter(torch.randn(HEADS, HEADS))
    scores = torch.einsum("bhqk,hg->bgqk", q @ k.transpose(-2, -1) / 2, before)
    weights = torch.einsum("bgqk,gh->bhqk", scores.softmax(dim=-1), after)
    return weights @ v


def axial() -> Any:
    """Attention along the rows of an image, each row a batch of its own."""
    x = torch.randn(2, 5, 6, D)
    batch, rows, columns, width = x.shape
    y = x.reshape(batch * rows, columns, width)
    weights = (y @ y.transpose(1, 2) / math.sqrt(width)).softmax(dim=-1)
    return (weights @ y).reshape(batch, rows, columns, width)


CALLS = [
    self_attention, self_attention_time_first, cross_attention_other_widths, encoder_layer, encoder_time_first,
    decoder_layer, decoder, transformer, fused_causal, fused_with_mask, additive_score, heads, alibi, rotary, relative,
    grouped_queries, multi_query, einsum_heads, linear_attention, local_windows, pooling, perceiver,
    positions_time_first, vision, pre_norm_block, squeeze_and_excite, pointer, cached_step,
    talking_heads, axial,
]  # fmt: skip
