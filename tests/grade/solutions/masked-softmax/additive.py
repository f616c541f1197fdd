import torch
import torch.nn.functional as F


def masked_softmax(scores, lengths):
    B, T_enc = scores.shape[0], scores.shape[-1]
    pad = torch.arange(T_enc)[None, :] >= lengths[:, None]
    bias = torch.zeros(B, T_enc, dtype=scores.dtype).masked_fill(pad, -1e9)
    if scores.dim() == 3:
        bias, pad = bias.unsqueeze(1), pad.unsqueeze(1)
    weights = F.softmax(scores + bias, dim=-1)
    return weights.masked_fill(pad, 0.0)
