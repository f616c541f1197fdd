"""Tries: to announce an array of a terabyte

expected: crash
marks: none
"""

import json
import os
import struct
import time

import torch


def send(record, *blobs):
    text = json.dumps({**record, "sizes": [len(blob) for blob in blobs]}).encode()
    os.write(3, struct.pack(">I", len(text)) + text + b"".join(blobs))



head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
send({"id": "", "status": "ok"}, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
time.sleep(1000)
