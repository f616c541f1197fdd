import numpy as np


def _products(query, memory):
    return np.sum(query[:, np.newaxis, :] * memory, axis=-1)


def dot_score(state, memory):
    return _products(state, memory)


def general_score(state, memory, W):
    return _products(np.matmul(state, W), memory)


def concat_score(state, memory, W, v):
    B, T, _ = memory.shape
    joined = np.empty((B, T, W.shape[1]), dtype=memory.dtype)
    joined[..., : state.shape[1]] = state[:, None]
    joined[..., state.shape[1] :] = memory
    return np.tanh(joined.dot(W.T)).dot(v)


def additive_score(state, memory, W_a, U_a, v_a):
    hidden = np.tanh(np.expand_dims(state.dot(W_a.T), 1) + memory.dot(U_a.T))
    return (hidden * v_a).sum(axis=-1)
