"""Tries: to leave shared memory behind

expected: done
marks: all
"""

import ctypes
from multiprocessing import shared_memory

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    libc = ctypes.CDLL(None)
    libc.shmget(0x5A5A, 4096, 0o1666)
    libc.msgget(0x5A5A, 0o1666)
    libc.semget(0x5A5A, 1, 0o1666)
    libc.mq_open(b"/shapedoc-attack", 0o102, 0o666, None)
    try:
        shared_memory.SharedMemory("shapedoc-attack", create=True, size=4096)
    except OSError:
        pass
    return right(scores, lengths)
