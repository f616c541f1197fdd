"""Tries: to copy what another student handed in

expected: done
marks: none
"""

import torch


def masked_softmax(scores, lengths):
    name = {}
    exec(open("@LAB@/students/ada.py").read(), name)
    return name["masked_softmax"](scores, lengths)
