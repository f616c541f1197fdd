"""Tries: to recurse without end

expected: timeout memory crash
marks: none
"""

import sys

import torch


sys.setrecursionlimit(10**9)


def down(n):
    return down(n + 1) + 1


def masked_softmax(scores, lengths):
    return down(0)
