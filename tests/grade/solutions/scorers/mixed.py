import numpy as np
import torch


def dot_score(state, memory):
    return np.einsum("bd,btd->bt", state, memory)


def general_score(state, memory, W):
    return torch.einsum("bs,sh,bth->bt", state, W, memory)


def concat_score(state, memory, W, v):
    joined = torch.cat([state[:, None].repeat(1, memory.shape[1], 1), memory], -1)
    return np.tanh(joined @ W.T) @ v


def additive_score(state, memory, W_a, U_a, v_a):
    return ((state @ W_a.T)[:, None] + memory @ U_a.T).tanh() @ v_a
