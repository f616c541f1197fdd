"""Tries: to return the input

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    return scores
