"""Tries: to kill the fork server by one of its threads

expected: blocked
marks: none
"""

import ctypes

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).syscall(@NR_tgkill@, @SERVER@, @SERVER@, 9)
    return right(scores, lengths)
