"""Tries: to go on after memory ran out, and to hold what there is

expected: done
marks: all
"""

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    keep = []
    try:
        while True:
            keep.append(torch.empty(1 << 26))
    except RuntimeError:
        del keep
    return right(scores, lengths)
