"""Tries: to write where results go

expected: crash
marks: none
"""

import os

import torch


for descriptor in range(3, 64):
    try:
        os.write(descriptor, b"\xff" * 4096)
    except OSError:
        pass


def masked_softmax(scores, lengths):
    return torch.zeros_like(scores)
