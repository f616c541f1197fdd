# mistake: mask-fills-too-little
import torch

def masked_softmax(scores, lengths):
    s = scores.clone()
    for b in range(len(lengths)):
        s[b, ..., int(lengths[b]):] = 0
    return torch.softmax(s, dim=-1)
