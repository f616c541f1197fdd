"""Tries: to abort

expected: crash
marks: none
"""

import os

import torch


def masked_softmax(scores, lengths):
    os.abort()
