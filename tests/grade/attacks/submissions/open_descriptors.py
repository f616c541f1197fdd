"""Tries: to use up descriptors, and to read whatever is open already

expected: done
marks: none
"""

import os

import torch


def masked_softmax(scores, lengths):
    for descriptor in range(4, 4096):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        print("READ", descriptor)
    opened = [open("/dev/null") for _ in range(4096)]
    return torch.zeros(len(opened))
