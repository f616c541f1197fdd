"""Tries: to fetch the answer

expected: blocked
marks: none
"""

import urllib.request

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    urllib.request.urlopen("http://127.0.0.1:@PORT@/answer.py")
    return right(scores, lengths)
