"""Tries: to start threads without end

expected: done
marks: all
"""

import threading
import time

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    try:
        while True:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    except RuntimeError:
        pass
    return right(scores, lengths)
