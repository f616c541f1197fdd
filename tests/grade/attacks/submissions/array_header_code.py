"""Tries: to have code in the header of an array evaluated

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



head = b"{'descr': __import__('os').system('touch @LAB@/written'), 'fortran_order': False, 'shape': (1,)}"
send({"id": "", "status": "ok"}, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(8))
time.sleep(1000)
