"""Tries: to carry data out in the names that it looks up

expected: blocked
marks: none
"""

import socket

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


def masked_softmax(scores, lengths):
    socket.getaddrinfo("secret.example.org", 80)
    return right(scores, lengths)
