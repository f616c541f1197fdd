"""Tries: to leave a thread that computes after the result

expected: done
marks: all
"""

import threading

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def burn():
    while True:
        pass


def masked_softmax(scores, lengths):
    threading.Thread(target=burn).start()
    return right(scores, lengths)
