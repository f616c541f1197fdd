"""Tries: to start worker processes

expected: blocked
marks: none
"""

import multiprocessing

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    process = multiprocessing.Process(target=print)
    process.start()
    return right(scores, lengths)
