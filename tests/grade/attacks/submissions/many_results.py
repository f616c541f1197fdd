"""Tries: to return more tensors than anybody asked for

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    return [torch.zeros(3) for _ in range(100_000)]
