# mistake: softmax-over-queries softmax-wrong-axis
import torch
import torch.nn.functional as F

def masked_softmax(scores, lengths):
    keep = torch.arange(scores.shape[-1])[None] < lengths[:, None]
    if scores.dim() == 3:
        keep = keep[:, None, :].expand_as(scores)
    out = F.softmax(scores.masked_fill(~keep, -1e9), dim=1)
    return out * keep
