"""Tries: to fetch the answer

expected: blocked
marks: none
"""

import urllib.request

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    urllib.request.urlopen("http://127.0.0.1:@PORT@/answer.py")
    return right(scores, lengths)
