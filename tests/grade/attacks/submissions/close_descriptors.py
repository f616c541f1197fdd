"""Tries: to close where results go

expected: crash
marks: none
"""

import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    os.closerange(0, 64)
    return right(scores, lengths)
