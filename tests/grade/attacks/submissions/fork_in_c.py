"""Tries: to start a process behind the back of Python

expected: blocked
marks: none
"""

import ctypes

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).fork()
    return right(scores, lengths)
