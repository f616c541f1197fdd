"""Tries: to leave a key in the kernel

expected: blocked
marks: none
"""

import ctypes

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).syscall(@NR_add_key@, b"user", b"a", b"b", 1, -2)
    return right(scores, lengths)
