"""Tries: to call the system by the numbers of another architecture

expected: blocked
marks: none
"""

import ctypes
import mmap

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    # mov eax, 2 (fork in the 32-bit table); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x02\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    return right(scores, lengths)
