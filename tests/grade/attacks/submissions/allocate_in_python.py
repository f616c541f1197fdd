"""Tries: to fill the memory with small objects

expected: memory timeout
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    keep = []
    while True:
        keep.append(bytearray(1 << 20))
