import numpy as np


def dot_score(state, memory):
    return np.stack([(state * memory[:, t]).sum(axis=1) for t in range(memory.shape[1])], axis=1)


def general_score(state, memory, W):
    return np.stack([((state @ W) * memory[:, t]).sum(axis=1) for t in range(memory.shape[1])], axis=1)


def concat_score(state, memory, W, v):
    scores = []
    for t in range(memory.shape[1]):
        joined = np.concatenate([state, memory[:, t]], axis=1)
        scores.append(np.tanh(joined @ W.T) @ v)
    return np.stack(scores, axis=1)


def additive_score(state, memory, W_a, U_a, v_a):
    scores = []
    for t in range(memory.shape[1]):
        scores.append(np.tanh(state @ W_a.T + memory[:, t] @ U_a.T) @ v_a)
    return np.stack(scores, axis=1)
