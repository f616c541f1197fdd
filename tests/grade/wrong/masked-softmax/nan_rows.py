# mistake: empty-row-nan
import torch

def masked_softmax(scores, lengths):
    mask = torch.arange(scores.shape[-1]).unsqueeze(0) >= lengths.unsqueeze(1)
    if scores.dim() == 3:
        mask = mask.unsqueeze(1)
    scores = scores.masked_fill(mask, float('-inf'))
    return torch.softmax(scores, dim=-1)
