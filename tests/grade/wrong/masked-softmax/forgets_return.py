# mistake: not-an-array result-missing
import torch

def masked_softmax(scores, lengths):
    keep = torch.arange(scores.shape[-1]) < lengths[:, None]
    if scores.dim() == 3:
        keep = keep.unsqueeze(1)
    weights = torch.softmax(scores.masked_fill(~keep, -1e9), dim=-1) * keep
