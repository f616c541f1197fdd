"""Tries: to send JSON that is nested without end

expected: crash
marks: none
"""

import os
import struct
import time

import torch


os.write(3, struct.pack(">I", 60_000) + b"[" * 60_000)
time.sleep(1000)
