"""Tries: to return an object whose unpickling runs a command

expected: done
marks: none
"""

import os

import torch


class Evil:
    def __reduce__(self):
        return os.system, ("touch @LAB@/written",)


def masked_softmax(scores, lengths):
    return Evil()
