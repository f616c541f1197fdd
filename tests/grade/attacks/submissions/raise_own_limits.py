"""Tries: to lift the limits that it runs under

expected: timeout
marks: none
"""

import resource

import torch


def masked_softmax(scores, lengths):
    for what in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
        try:
            resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (ValueError, OSError):
            pass
    while True:
        pass
