"""Tries: to start a process by the number of the system call

expected: blocked
marks: none
"""

import ctypes

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).syscall(@NR_clone@, 17, 0, 0, 0, 0)
    return right(scores, lengths)
