"""Tries: to hang whoever prints the exception

expected: timeout
marks: none
"""

import torch


class Trap(Exception):
    def __str__(self):
        while True:
            pass


def masked_softmax(scores, lengths):
    raise Trap
