"""Tries: to hang when the process ends

expected: done
marks: all
"""

import atexit

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def burn():
    while True:
        pass


atexit.register(burn)


def masked_softmax(scores, lengths):
    return right(scores, lengths)
