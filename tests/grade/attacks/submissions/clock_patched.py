"""Tries: to make time stand still for whoever measures it

expected: timeout
marks: none
"""

import time

import torch


time.time = time.perf_counter = time.monotonic = lambda: 0.0


def masked_softmax(scores, lengths):
    while True:
        pass
