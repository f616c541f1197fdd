# mistake: length-one-too-long
import torch

def masked_softmax(scores, lengths):
    weights = torch.zeros_like(scores)
    for b in range(scores.shape[0]):
        last = int(lengths[b])
        if last > 0:
            weights[b, ..., :last + 1] = torch.softmax(scores[b, ..., :last + 1], dim=-1)
    return weights
