"""Tries: to crash the interpreter

expected: crash
marks: none
"""

import ctypes

import torch


def masked_softmax(scores, lengths):
    return ctypes.string_at(0)
