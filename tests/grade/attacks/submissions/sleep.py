"""Tries: to hold a place in the run without using the processor

expected: timeout
marks: none
"""

import time

import torch


def masked_softmax(scores, lengths):
    time.sleep(1000)
