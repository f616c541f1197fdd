"""Tries: to stay when the fork server dies

expected: timeout
marks: none
"""

import ctypes
import time

import torch


def masked_softmax(scores, lengths):
    libc = ctypes.CDLL(None)
    libc.prctl(1, 0, 0, 0, 0)
    libc.prctl(4, 1, 0, 0, 0)
    time.sleep(1000)
