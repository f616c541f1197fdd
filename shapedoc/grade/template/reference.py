"""The right solution, and the mistakes that are worth a hint of their own. Students never see this file.

It runs in the same jail as a submission, on the same inputs; what it returns is what is right.
"""

import torch


def attend(query, memory, lengths):
    """query (B, d), memory (B, T_enc, d), lengths (B,) -> context (B, d), weights (B, T_enc)."""
    scores = torch.einsum("bd,btd->bt", query, memory)
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    weights = torch.softmax(scores.masked_fill(padding, float("-inf")), dim=-1)
    return torch.einsum("bt,btd->bd", weights, memory), weights


def scores_scaled(query, memory, lengths):
    """A mistake: the scores are divided by the root of d. `[mistakes.scores_scaled]` holds its hint."""
    return attend(query / query.shape[-1] ** 0.5, memory, lengths)
