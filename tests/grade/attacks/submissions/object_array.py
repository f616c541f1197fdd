"""Tries: to return an array of objects

expected: done
marks: none
"""

import numpy as np
import torch


def masked_softmax(scores, lengths):
    return np.array([{}, print], dtype=object)
