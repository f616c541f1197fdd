"""Tries: to listen to the network

expected: blocked
marks: none
"""

import socket

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    return right(scores, lengths)
