"""Twelve bugs of attention code, each with its right twin; seven raise nothing."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

__all__ = ["BUGS", "Bug"]

B, T_ENC, T_DEC, D_S, D_H, D_ATTN, H, D_K = 4, 7, 5, 6, 10, 8, 2, 3


@dataclass(frozen=True)
class Bug:
    """A wrong function, its right twin and arguments; `twin` takes `right` where the fault is the caller's."""

    name: str
    wrong: Callable[..., Any]
    twin: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    silent: bool
    right: Callable[[], tuple[Any, ...]] | None = None


def additive(
    s_prev: Float[Tensor, "B d_s"],
    h: Float[Tensor, "B T_enc d_h"],
    w_a: Float[Tensor, "d_s d_attn"],
    u_a: Float[Tensor, "d_h d_attn"],
    v_a: Float[Tensor, "d_attn"],
) -> Float[Tensor, "B d_h"]:
    scores = torch.tanh((s_prev @ w_a).unsqueeze(1) + h @ u_a) @ v_a
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights.unsqueeze(1), h).squeeze(1)


def untransposed(
    q: Float[Tensor, "B H T_dec d_k"], k: Float[Tensor, "B H T_enc d_k"], v: Float[Tensor, "B H T_enc d_k"]
) -> Float[Tensor, "B H T_dec d_k"]:
    scores = q @ k / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def scaled_dot_product(
    q: Float[Tensor, "B H T_dec d_k"], k: Float[Tensor, "B H T_enc d_k"], v: Float[Tensor, "B H T_enc d_k"]
) -> Float[Tensor, "B H T_dec d_k"]:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def dot(s_t: Float[Tensor, "B d_h"], h: Float[Tensor, "B T_enc d_h"]) -> Float[Tensor, "B d_h"]:
    scores = torch.bmm(h, s_t.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights.unsqueeze(1), h).squeeze(1)


def softmax_of_one(
    s_prev: Float[Tensor, "B d_s"],
    h: Float[Tensor, "B T_enc d_h"],
    w_a: Float[Tensor, "d_s d_attn"],
    u_a: Float[Tensor, "d_h d_attn"],
    v_a: Float[Tensor, "d_attn 1"],
) -> Float[Tensor, "B d_h"]:
    scores = torch.tanh((s_prev @ w_a).unsqueeze(1) + h @ u_a) @ v_a
    weights = torch.softmax(scores, dim=-1)
    return (weights * h).sum(1)


def softmax_over_time(
    s_prev: Float[Tensor, "B d_s"],
    h: Float[Tensor, "B T_enc d_h"],
    w_a: Float[Tensor, "d_s d_attn"],
    u_a: Float[Tensor, "d_h d_attn"],
    v_a: Float[Tensor, "d_attn 1"],
) -> Float[Tensor, "B d_h"]:
    scores = torch.tanh((s_prev @ w_a).unsqueeze(1) + h @ u_a) @ v_a
    weights = torch.softmax(scores, dim=1)
    return (weights * h).sum(1)


def mask_on_queries(
    q: Float[Tensor, "B T d_k"], k: Float[Tensor, "B T d_k"], v: Float[Tensor, "B T d_k"], pad: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T d_k"]:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(pad.unsqueeze(-1), -1e9)
    return torch.softmax(scores, dim=-1) @ v


def mask_on_keys(
    q: Float[Tensor, "B T d_k"], k: Float[Tensor, "B T d_k"], v: Float[Tensor, "B T d_k"], pad: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T d_k"]:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(pad.unsqueeze(1), -1e9)
    return torch.softmax(scores, dim=-1) @ v


time_first = nn.GRU(D_S, D_H)
batch_first = nn.GRU(D_S, D_H, batch_first=True)


def encoder_time_first(x: Float[Tensor, "B T_enc d_in"], s_prev: Float[Tensor, "B d_h"]) -> Float[Tensor, "B d_h"]:
    h, _ = time_first(x)
    weights = torch.softmax(torch.bmm(h, s_prev.unsqueeze(2)).squeeze(2), dim=-1)
    return torch.bmm(weights.unsqueeze(1), h).squeeze(1)


def encoder_batch_first(x: Float[Tensor, "B T_enc d_in"], s_prev: Float[Tensor, "B d_h"]) -> Float[Tensor, "B d_h"]:
    h, _ = batch_first(x)
    weights = torch.softmax(torch.bmm(h, s_prev.unsqueeze(2)).squeeze(2), dim=-1)
    return torch.bmm(weights.unsqueeze(1), h).squeeze(1)


def merge_untransposed(
    q: Float[Tensor, "B H T_dec d_k"], k: Float[Tensor, "B H T_enc d_k"], v: Float[Tensor, "B H T_enc d_k"]
) -> Float[Tensor, "B T_dec H*d_k"]:
    context = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v
    batch, heads, steps, size = context.shape
    return context.reshape(batch, steps, heads * size)


def merge_transposed(
    q: Float[Tensor, "B H T_dec d_k"], k: Float[Tensor, "B H T_enc d_k"], v: Float[Tensor, "B H T_enc d_k"]
) -> Float[Tensor, "B T_dec H*d_k"]:
    context = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v
    batch, heads, steps, size = context.shape
    return context.transpose(1, 2).reshape(batch, steps, heads * size)


def keepdim_missing(
    q: Float[Tensor, "B T d_k"], k: Float[Tensor, "B T d_k"], v: Float[Tensor, "B T d_k"]
) -> Float[Tensor, "B T d_k"]:
    weights = torch.exp(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    weights = weights / weights.sum(-1)
    return weights @ v


def keepdim_there(
    q: Float[Tensor, "B T d_k"], k: Float[Tensor, "B T d_k"], v: Float[Tensor, "B T d_k"]
) -> Float[Tensor, "B T d_k"]:
    weights = torch.exp(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v


output = nn.Linear(2 * D_H, D_H)


def cat_over_time(c_t: Float[Tensor, "B 1 d_h"], s_t: Float[Tensor, "B 1 d_h"]) -> Float[Tensor, "B 1 d_h"]:
    return torch.tanh(output(torch.cat([c_t, s_t], dim=1)))


def cat_over_features(c_t: Float[Tensor, "B 1 d_h"], s_t: Float[Tensor, "B 1 d_h"]) -> Float[Tensor, "B 1 d_h"]:
    return torch.tanh(output(torch.cat([c_t, s_t], dim=-1)))


def loss_outer(prediction: Float[Tensor, "B 1"], target: Float[Tensor, "B"]) -> Float[Tensor, ""]:
    return ((prediction - target) ** 2).mean()


def loss_squeezed(prediction: Float[Tensor, "B 1"], target: Float[Tensor, "B"]) -> Float[Tensor, ""]:
    return ((prediction.squeeze(1) - target) ** 2).mean()


def softmax_over_queries(
    q: Float[Tensor, "B T_dec d_k"], k: Float[Tensor, "B T_enc d_k"], v: Float[Tensor, "B T_enc d_k"]
) -> Float[Tensor, "B T_dec d_k"]:
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=1)
    return weights @ v


def softmax_over_keys(
    q: Float[Tensor, "B T_dec d_k"], k: Float[Tensor, "B T_enc d_k"], v: Float[Tensor, "B T_enc d_k"]
) -> Float[Tensor, "B T_dec d_k"]:
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
    return weights @ v


def drawn(*shapes: tuple[int, ...]) -> Callable[[], tuple[Any, ...]]:
    return lambda: tuple(torch.randn(shape) for shape in shapes)


HEADS = drawn((B, H, T_DEC, D_K), (B, H, T_ENC, D_K), (B, H, T_ENC, D_K))
CROSS = drawn((B, T_DEC, D_K), (B, T_ENC, D_K), (B, T_ENC, D_K))
SCORER = ((B, D_S), (B, T_ENC, D_H), (D_S, D_ATTN), (D_H, D_ATTN), (D_ATTN,))


def masked() -> tuple[Any, ...]:
    x = [torch.randn(B, T_ENC, D_K) for _ in range(3)]
    return (*x, torch.arange(T_ENC) >= torch.tensor([7, 5, 4, 2])[:, None])


BACKWARDS = drawn(*SCORER[:2], (D_ATTN, D_S), *SCORER[3:])
LAYERED = drawn((1, B, D_S), *SCORER[1:])
BOTH, ONE_WAY = drawn((B, D_H), (B, T_ENC, 2 * D_H)), drawn((B, D_H), (B, T_ENC, D_H))
COLUMN = drawn(*SCORER[:4], (D_ATTN, 1))

BUGS = [
    Bug("W_a built the wrong way round", additive, additive, BACKWARDS, False, drawn(*SCORER)),
    Bug("no transpose of the keys", untransposed, scaled_dot_product, HEADS, False),
    Bug("dot scores with a bidirectional encoder", dot, dot, BOTH, False, ONE_WAY),
    Bug("softmax over an axis of one", softmax_of_one, softmax_over_time, COLUMN, True),
    Bug("mask on the queries", mask_on_queries, mask_on_keys, masked, True),
    Bug("batch_first forgotten", encoder_time_first, encoder_batch_first, drawn((B, T_ENC, D_S), (B, D_H)), True),
    Bug("heads merged without transpose", merge_untransposed, merge_transposed, HEADS, True),
    Bug("a state with its layer axis", additive, additive, LAYERED, False, drawn(*SCORER)),
    Bug("no keepdim, batch of one", keepdim_missing, keepdim_there, drawn(*[(1, T_ENC, D_K)] * 3), True),
    Bug("joined along time", cat_over_time, cat_over_features, drawn((B, 1, D_H), (B, 1, D_H)), False),
    Bug("loss of (B, 1) and (B,)", loss_outer, loss_squeezed, drawn((B, 1), (B,)), True),
    Bug("softmax over the queries", softmax_over_queries, softmax_over_keys, CROSS, True),
]
