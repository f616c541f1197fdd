import torch

def masked_softmax(scores, lengths):
    mask = torch.arange(scores.shape[-1]).unsqueeze(0) >= lengths.unsqueeze(1)
    if scores.dim() == 3:
        mask = mask.unsqueeze(1)
    weights = torch.softmax(scores.masked_fill(mask, float('-inf')), dim=-1)
    return torch.nan_to_num(weights, 0.0)
