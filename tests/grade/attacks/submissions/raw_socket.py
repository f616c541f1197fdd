"""Tries: to listen to the network

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
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    return right(scores, lengths)
