"""Tries: to change the input, so that it fits a wrong answer

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    scores.fill_(0.0)
    lengths.fill_(scores.shape[-1])
    return torch.full_like(scores, 0.5)
