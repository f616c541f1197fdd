"""Tries: to take the memory of the fork server away by a limit

expected: blocked
marks: none
"""

import os
import resource

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    resource.prlimit(os.getppid(), resource.RLIMIT_AS, (0, 0))
    return right(scores, lengths)
