import numpy as np


def dot_score(state, memory):
    return np.array([H @ s for s, H in zip(state, memory)])


def general_score(state, memory, W):
    return np.array([H @ (W.T @ s) for s, H in zip(state, memory)])


def concat_score(state, memory, W, v):
    rows = []
    for s, H in zip(state, memory):
        joined = np.hstack([np.tile(s, (len(H), 1)), H])
        rows.append(np.tanh(joined @ W.T) @ v)
    return np.array(rows)


def additive_score(state, memory, W_a, U_a, v_a):
    return np.array([np.tanh(W_a @ s + H @ U_a.T) @ v_a for s, H in zip(state, memory)])
