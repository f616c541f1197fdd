"""Tries: to become a program that is in no file

expected: blocked
marks: none
"""

import ctypes

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).syscall(@NR_execveat@, 1, b"", None, None, 0x1000)
    return right(scores, lengths)
