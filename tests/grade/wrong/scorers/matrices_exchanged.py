# mistake: weights-exchanged mismatched-product
import numpy as np

def dot_score(state, memory):
    return np.einsum("bd,btd->bt", state, memory)

def general_score(state, memory, W):
    return np.einsum("bs,sh,bth->bt", state, W, memory)

def concat_score(state, memory, W, v):
    B, T, _ = memory.shape
    s = np.repeat(state[:, None], T, 1)
    return np.tanh(np.concatenate([s, memory], -1) @ W.T) @ v

def additive_score(state, memory, W_a, U_a, v_a):
    return np.tanh((state @ W_a.T)[:, None] + memory @ U_a.T) @ v_a

def additive_score(state, memory, W_a, U_a, v_a):
    return np.tanh((state @ U_a.T)[:, None] + memory @ W_a.T) @ v_a
