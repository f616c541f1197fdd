"""Tries: to end the checker by an exception in a check

expected: done
marks: none
"""

import sys

import torch


def masked_softmax(scores, lengths):
    sys.exit(0)
