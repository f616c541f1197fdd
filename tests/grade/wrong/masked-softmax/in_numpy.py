# mistake: graph-cut not-a-tensor
import numpy as np
import torch

def masked_softmax(scores, lengths):
    s = scores.detach().numpy()
    n = lengths.numpy().reshape((-1,) + (1,) * (s.ndim - 1))
    keep = np.arange(s.shape[-1]) < n
    s = np.where(keep, s, -1e9)
    e = np.exp(s - s.max(-1, keepdims=True)) * keep
    return torch.from_numpy(e / np.maximum(e.sum(-1, keepdims=True), 1e-20))
