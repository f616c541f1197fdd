"""Tries: to overwrite, shorten, move and relabel what it can reach

expected: done
marks: all
"""

import os

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    canary = "@LAB@/canary"
    for change in (
        lambda: open(canary, "w").write("mine"),
        lambda: os.truncate(canary, 0),
        lambda: os.chmod(canary, 0o777),
        lambda: os.chown(canary, 1, 1),
        lambda: os.utime(canary, (0, 0)),
        lambda: os.setxattr(canary, "user.mine", b"1"),
        lambda: os.rename(canary, canary + "2"),
        lambda: os.link(canary, canary + "3"),
        lambda: os.symlink("/etc/passwd", "@LAB@/link"),
        lambda: os.mkfifo("@LAB@/pipe"),
    ):
        try:
            change()
        except OSError:
            pass
    return right(scores, lengths)
