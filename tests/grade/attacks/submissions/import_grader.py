"""Tries: to import the grader and to ask it for the answer

expected: done
marks: none
"""

import sys

import torch


def masked_softmax(scores, lengths):
    sys.path.insert(0, "@ROOT@")
    sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]
    from shapedoc.grade.marking import prepare

    return prepare(scores, lengths)
