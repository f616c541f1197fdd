"""Tries: to run a program without forking itself

expected: blocked
marks: none
"""

import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    os.posix_spawn("/bin/touch", ["touch", "@LAB@/written"], {})
    return right(scores, lengths)
