"""Tries: to reply to steps that nobody asked for

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



send({"id": "", "status": "ok"})
send({"id": "../../other-student", "status": "ok"})
