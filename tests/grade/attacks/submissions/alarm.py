"""Tries: to be ended by a timer of its own

expected: crash
marks: none
"""

import signal

import torch


def masked_softmax(scores, lengths):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while True:
        pass
