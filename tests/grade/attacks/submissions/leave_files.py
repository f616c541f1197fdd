"""Tries: to leave files in every place where programs leave files

expected: done
marks: all
"""

import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/dev/mqueue", os.getcwd(), "@LAB@", "/home"):
        for name in ("shapedoc-attack-left", "shapedoc-attack-left.py"):
            try:
                open(os.path.join(place, name), "w").write("x")
            except OSError:
                pass
    return right(scores, lengths)
