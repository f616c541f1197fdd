# mistake: softmax-twice
import torch

def masked_softmax(scores, lengths):
    pad = torch.arange(scores.shape[-1])[None] >= lengths[:, None]
    if scores.dim() == 3:
        pad = pad[:, None]
    w = scores.masked_fill(pad, -1e9).softmax(-1)
    return w.masked_fill(pad, -1e9).softmax(-1).masked_fill(pad, 0)
