# mistake: mask-fills-too-little
import torch
import torch.nn.functional as F

def masked_softmax(scores, lengths):
    mask = torch.arange(scores.size(-1)).expand(scores.size(0), -1) >= lengths.unsqueeze(1)
    if scores.dim() == 3:
        mask = mask.unsqueeze(1).expand_as(scores)
    return F.softmax(scores.masked_fill(mask, -1e-9), dim=-1)
