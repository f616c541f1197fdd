"""Tries: to write control codes to the terminal of the instructor

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    raise ValueError("\x1b]0;owned\x07\x1b[2J\u202e" + "a" * 100_000)
