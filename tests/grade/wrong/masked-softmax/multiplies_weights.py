# mistake: mask-after-softmax
import torch

def masked_softmax(scores, lengths):
    T = scores.size(-1)
    mask = torch.zeros(scores.size(0), T, dtype=scores.dtype)
    for i in range(scores.size(0)):
        mask[i, :lengths[i]] = 1
    if scores.dim() == 3:
        mask = mask.unsqueeze(1)
    attn = torch.nn.functional.softmax(scores, dim=-1)
    return attn * mask
