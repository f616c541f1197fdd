"""Tries: to take the memory of the fork server away by a limit

expected: blocked
marks: none
"""

import os
import resource

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    resource.prlimit(os.getppid(), resource.RLIMIT_AS, (0, 0))
    return right(scores, lengths)
