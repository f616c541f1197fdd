"""Tries: to hang when objects are freed at the end

expected: done
marks: all
"""

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


class Trap:
    def __del__(self):
        while True:
            pass


trap = Trap()


def masked_softmax(scores, lengths):
    return right(scores, lengths)
