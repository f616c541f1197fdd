# mistake: one-length-for-all mask-never-used
import torch

def masked_softmax(scores, lengths):
    longest = int(lengths.max())
    mask = torch.arange(scores.shape[-1]) < longest
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
