"""Tries: to leave a thread that computes after the result

expected: done
marks: all
"""

import threading

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def burn():
    while True:
        pass


def masked_softmax(scores, lengths):
    threading.Thread(target=burn).start()
    return right(scores, lengths)
