"""Tries: to put a script into the feedback page

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    raise ValueError("<script>fetch('https://example.org')</script>")
