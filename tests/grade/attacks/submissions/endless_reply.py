"""Tries: to send without end

expected: crash
marks: none
"""

import os
import struct

import torch


os.write(3, struct.pack(">I", 33) + b'{"id": "", "sizes": [99000000000]}'[:33])
while True:
    os.write(3, b"0" * (1 << 20))
