# mistake: precision-lost
import torch

def masked_softmax(scores, lengths):
    out = torch.zeros(scores.shape)
    for b in range(len(lengths)):
        n = int(lengths[b])
        if n:
            out[b, ..., :n] = torch.softmax(scores[b, ..., :n], -1)
    return out
