"""Tries: to return a list that holds itself

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    result = []
    result.append(result)
    return result
