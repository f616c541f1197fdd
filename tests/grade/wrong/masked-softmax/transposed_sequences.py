# mistake: wrong-shape scores-transposed
import torch

def masked_softmax(scores, lengths):
    keep = torch.arange(scores.shape[-1]) < lengths[:, None]
    if scores.dim() == 2:
        return torch.softmax(scores.masked_fill(~keep, -1e9), -1) * keep
    s = scores.transpose(1, 2)
    keep = keep[:, :, None]
    return torch.softmax(s.masked_fill(~keep, -1e9), dim=1) * keep
