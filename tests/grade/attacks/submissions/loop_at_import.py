"""Tries: to run for ever while it is imported

expected: timeout
marks: none
"""

import torch


while True:
    pass
