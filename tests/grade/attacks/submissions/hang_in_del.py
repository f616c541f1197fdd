"""Tries: to hang when objects are freed at the end

expected: done
marks: all
"""

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


class Trap:
    def __del__(self):
        while True:
            pass


trap = Trap()


def masked_softmax(scores, lengths):
    return right(scores, lengths)
