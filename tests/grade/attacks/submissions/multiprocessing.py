"""Tries: to start worker processes

expected: blocked
marks: none
"""

import multiprocessing

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    process = multiprocessing.Process(target=print)
    process.start()
    return right(scores, lengths)
