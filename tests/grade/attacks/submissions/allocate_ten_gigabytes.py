"""Tries: to take more memory than there is

expected: memory
marks: none
"""

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    keep = torch.ones(10 * 2**30, dtype=torch.uint8)
    return right(scores, lengths) * keep[0]
