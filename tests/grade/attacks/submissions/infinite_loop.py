"""Tries: to run for ever

expected: timeout
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    while True:
        pass
