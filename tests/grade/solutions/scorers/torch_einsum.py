import torch
from torch import einsum, tanh


def dot_score(state, memory):
    return einsum("bd,btd->bt", state, memory)


def general_score(state, memory, W):
    return einsum("bs,sh,bth->bt", state, W, memory)


def concat_score(state, memory, W, v):
    d_s = state.shape[1]
    W_s, W_h = W[:, :d_s], W[:, d_s:]
    inside = einsum("bs,as->ba", state, W_s)[:, None] + einsum("bth,ah->bta", memory, W_h)
    return einsum("bta,a->bt", tanh(inside), v)


def additive_score(state, memory, W_a, U_a, v_a):
    inside = einsum("bs,as->ba", state, W_a)[:, None] + einsum("bth,ah->bta", memory, U_a)
    return einsum("bta,a->bt", torch.tanh(inside), v_a)
