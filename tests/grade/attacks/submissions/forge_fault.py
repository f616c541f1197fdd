"""Tries: to claim a fault of the machine, so that it is run again and again

expected: crash
marks: none
"""

import json
import os
import struct

import torch


def send(record, *blobs):
    text = json.dumps({**record, "sizes": [len(blob) for blob in blobs]}).encode()
    os.write(3, struct.pack(">I", len(text)) + text + b"".join(blobs))



send({"fault": "no memory", "ready": True})
os._exit(70)
