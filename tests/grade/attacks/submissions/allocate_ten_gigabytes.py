"""Tries: to take more memory than there is

expected: memory
marks: none
"""

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    keep = torch.ones(10 * 2**30, dtype=torch.uint8)
    return right(scores, lengths) * keep[0]
