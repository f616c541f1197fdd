"""Tries: to overrun the stack of the interpreter

expected: crash
marks: none
"""

import sys

import torch


sys.setrecursionlimit(10**9)


class Deep:
    def __repr__(self):
        return repr([self])[:-1] + repr(Deep())


def masked_softmax(scores, lengths):
    return repr(Deep())
