# mistake: mask-added
import torch

def masked_softmax(scores, lengths):
    mask = (torch.arange(scores.shape[-1])[None, :] < lengths[:, None]).float()
    if scores.dim() == 3:
        mask = mask[:, None, :]
    return torch.softmax(scores + mask, dim=-1)
