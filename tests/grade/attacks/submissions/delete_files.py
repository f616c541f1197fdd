"""Tries: to delete what it can reach

expected: done
marks: all
"""

import os
import shutil

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    shutil.rmtree("@LAB@", ignore_errors=True)
    for name in ("@LAB@/canary", "@LAB@/students/ada.py"):
        try:
            os.unlink(name)
        except OSError:
            pass
    return right(scores, lengths)
