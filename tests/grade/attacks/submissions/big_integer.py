"""Tries: to stay in C, where no handler of Python runs

expected: timeout
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    return len(str(7 ** (10**8)))
