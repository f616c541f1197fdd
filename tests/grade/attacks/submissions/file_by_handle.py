"""Tries: to open a file by its handle, past all paths

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
    ctypes.CDLL(None).syscall(@NR_open_by_handle_at@, -100, None, 0)
    return right(scores, lengths)
