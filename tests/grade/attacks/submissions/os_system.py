"""Tries: to run a shell

expected: blocked
marks: none
"""

import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    os.system("touch @LAB@/written")
    return right(scores, lengths)
