"""Tries: to find the checker in memory and to have it send garbage

expected: crash timeout
marks: none
"""

import gc
import os

import torch


def masked_softmax(scores, lengths):
    for each in gc.get_objects():
        if type(each).__name__ == "Run" and hasattr(each, "_plan"):
            each._send = lambda record, blobs=(): os.write(3, b"passed")
    return torch.zeros_like(scores)
