"""Tries: to end with success in the middle of a check

expected: crash
marks: none
"""

import os

import torch


def masked_softmax(scores, lengths):
    os._exit(0)
