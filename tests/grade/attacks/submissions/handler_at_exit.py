"""Tries: to hang when the process ends

expected: done
marks: all
"""

import atexit

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def burn():
    while True:
        pass


atexit.register(burn)


def masked_softmax(scores, lengths):
    return right(scores, lengths)
