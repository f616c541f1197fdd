"""Tries: to do in a ring what system calls may not

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
    ctypes.CDLL(None).syscall(@NR_io_uring_setup@, 8, ctypes.create_string_buffer(256))
    return right(scores, lengths)
