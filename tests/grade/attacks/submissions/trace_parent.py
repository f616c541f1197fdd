"""Tries: to trace the fork server

expected: blocked
marks: none
"""

import ctypes
import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)
    return right(scores, lengths)
