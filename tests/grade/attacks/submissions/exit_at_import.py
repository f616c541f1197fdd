"""Tries: to end with success before anything is checked

expected: crash
marks: none
"""

import os

import torch


os._exit(0)
