# mistake: softmax-over-everything not-normalised
import torch

def masked_softmax(scores, lengths):
    keep = torch.arange(scores.shape[-1]) < lengths[:, None]
    if scores.dim() == 3:
        keep = keep[:, None, :]
    e = torch.exp(scores - scores.max()) * keep
    return e / e.sum()
