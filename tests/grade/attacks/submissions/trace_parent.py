"""Tries: to trace the fork server

expected: blocked
marks: none
"""

import ctypes
import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)
    return right(scores, lengths)
