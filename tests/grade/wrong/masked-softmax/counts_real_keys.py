# mistake: mask-along-queries mismatched-elementwise
import torch

def masked_softmax(scores, lengths):
    if scores.dim() == 2:
        keep = torch.arange(scores.shape[1])[None, :] < lengths[:, None]
    else:
        keep = (torch.arange(scores.shape[1])[None, :] < lengths[:, None])[:, :, None]
    return torch.softmax(scores.masked_fill(~keep, -1e9), -1) * keep
