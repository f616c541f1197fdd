"""Tries: to end the checker by an exception

expected: done
marks: none
"""

import sys

import torch


sys.exit(0)
