import torch


def masked_softmax(scores, lengths):
    """Only the rows that have a key go through the softmax."""
    T_enc = scores.shape[-1]
    result = scores.new_zeros(scores.shape)
    some = lengths > 0
    if some.any():
        kept = scores[some]
        mask = torch.arange(T_enc).expand(len(kept), T_enc) >= lengths[some].unsqueeze(1)
        mask = mask.unsqueeze(1) if scores.ndim == 3 else mask
        result[some] = torch.softmax(kept.masked_fill(mask, -torch.inf), dim=-1)
    return result
