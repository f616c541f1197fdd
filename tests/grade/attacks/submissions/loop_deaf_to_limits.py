"""Tries: to ignore the signal of the processor limit

expected: timeout
marks: none
"""

import signal

import torch


signal.signal(signal.SIGXCPU, signal.SIG_IGN)


def masked_softmax(scores, lengths):
    while True:
        pass
