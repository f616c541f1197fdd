"""Tries: to kill every process that it may

expected: blocked
marks: none
"""

import os
import signal

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    os.kill(-1, signal.SIGKILL)
    return right(scores, lengths)
