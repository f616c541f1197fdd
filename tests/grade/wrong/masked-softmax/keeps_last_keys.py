# mistake: padding-at-wrong-end
import torch

def masked_softmax(scores, lengths):
    T = scores.shape[-1]
    pos = torch.arange(T)
    keep = pos[None, :] >= (T - lengths)[:, None]
    if scores.dim() == 3:
        keep = keep.unsqueeze(1)
    w = torch.softmax(scores.masked_fill(~keep, -1e9), dim=-1)
    return w * keep
