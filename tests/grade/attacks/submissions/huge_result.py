"""Tries: to return 8 GB that take no memory here

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    return torch.zeros(1).expand(2**31, 1)
