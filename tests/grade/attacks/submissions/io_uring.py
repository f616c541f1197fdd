"""Tries: to do in a ring what system calls may not

expected: blocked
marks: none
"""

import ctypes

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).syscall(@NR_io_uring_setup@, 8, ctypes.create_string_buffer(256))
    return right(scores, lengths)
