"""A right solution of scorers, in NumPy."""

import numpy as np


def dot_score(state, memory):
    """state (B, d), memory (B, T_enc, d) -> scores (B, T_enc)."""
    return np.einsum("bd,btd->bt", state, memory)


def general_score(state, memory, W):
    """state (B, d_s), memory (B, T_enc, d_h), W (d_s, d_h) -> scores (B, T_enc)."""
    return np.einsum("bh,bth->bt", state @ W, memory)


def concat_score(state, memory, W, v):
    """state (B, d_s), memory (B, T_enc, d_h), W (d_attn, d_s + d_h), v (d_attn,) -> scores (B, T_enc)."""
    T_enc = memory.shape[1]
    repeated = np.repeat(state[:, None, :], T_enc, axis=1)  # (B, T_enc, d_s)
    joined = np.concatenate([repeated, memory], axis=-1)  # (B, T_enc, d_s + d_h)
    return np.tanh(joined @ W.T) @ v


def additive_score(state, memory, W_a, U_a, v_a):
    """state (B, d_s), memory (B, T_enc, d_h), W_a (d_attn, d_s), U_a (d_attn, d_h), v_a (d_attn,) -> (B, T_enc)."""
    query = state @ W_a.T  # (B, d_attn)
    keys = memory @ U_a.T  # (B, T_enc, d_attn)
    return np.tanh(query[:, None, :] + keys) @ v_a
