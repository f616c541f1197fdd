"""Tries: to be an array that grows when it is converted

expected: memory
marks: none
"""

import numpy as np
import torch


class Growing:
    def __array__(self, dtype=None, copy=None):
        return np.zeros(1 << 28)


def masked_softmax(scores, lengths):
    return Growing()
