"""Tries: to kill the fork server

expected: blocked
marks: none
"""

import os
import signal

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    os.kill(os.getppid(), signal.SIGKILL)
    return right(scores, lengths)
