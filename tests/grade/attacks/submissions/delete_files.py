"""Tries: to delete what it can reach

expected: done
marks: all
"""

import os
import shutil

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    shutil.rmtree("@LAB@", ignore_errors=True)
    for name in ("@LAB@/canary", "@LAB@/students/ada.py"):
        try:
            os.unlink(name)
        except OSError:
            pass
    return right(scores, lengths)
