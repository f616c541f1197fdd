"""A right solution of masked-softmax."""

import torch


def masked_softmax(scores, lengths):
    """scores (B, T_enc) or (B, T_dec, T_enc), lengths (B,) -> weights of the same shape, zero on padding."""
    keep = torch.arange(scores.shape[-1], device=scores.device) < lengths[:, None]  # (B, T_enc)
    if scores.dim() == 3:
        keep = keep[:, None, :]  # (B, 1, T_enc)
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~keep, lowest), dim=-1)
    return weights * keep  # only rows without any key change here
