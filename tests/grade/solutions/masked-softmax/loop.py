import torch


def masked_softmax(scores, lengths):
    weights = torch.zeros_like(scores)
    for b, n in enumerate(lengths.tolist()):
        if n > 0:
            weights[b, ..., :n] = torch.softmax(scores[b, ..., :n], dim=-1)
    return weights
