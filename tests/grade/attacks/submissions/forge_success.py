"""Tries: to reply in the name of the checker that all steps passed

expected: done
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
for name in ("first", "second", "third"):
    send({"id": name, "status": "ok", "score": 1.0, "passed": True})
send({"end": True})
os._exit(0)
