"""Tries: to close where results go

expected: crash
marks: none
"""

import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    os.closerange(0, 64)
    return right(scores, lengths)
