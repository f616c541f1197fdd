import torch


def masked_softmax(scores, lengths):
    positions = torch.arange(scores.size(-1))
    keep = positions < lengths.unsqueeze(-1)
    while keep.dim() < scores.dim():
        keep = keep.unsqueeze(1)
    masked = torch.where(keep, scores, torch.full_like(scores, -1e30))
    largest = masked.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(masked - largest) * keep
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / total.clamp(min=1e-30)
