"""Tries: to take the tools of the checker away

expected: crash
marks: none
"""

import builtins
import sys

import torch


def masked_softmax(scores, lengths):
    torch.from_numpy = torch.Tensor.detach = torch.Tensor.numpy = None
    sys.modules.clear()
    vars(builtins).clear()
