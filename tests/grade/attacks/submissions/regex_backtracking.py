"""Tries: to stay in the regular expression engine

expected: timeout
marks: none
"""

import re

import torch


def masked_softmax(scores, lengths):
    return re.match(r'(a+)+$', 'a' * 64 + 'b')
