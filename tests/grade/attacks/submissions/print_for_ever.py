"""Tries: to print without end

expected: timeout
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    while True:
        print("a" * 1_000_000)
