"""Tries: to send an array that must be unpickled

expected: crash
marks: none
"""

import io
import json
import os
import struct
import time

import numpy as np
import torch


def send(record, *blobs):
    text = json.dumps({**record, "sizes": [len(blob) for blob in blobs]}).encode()
    os.write(3, struct.pack(">I", len(text)) + text + b"".join(blobs))



class Evil:
    def __reduce__(self):
        return os.system, ("touch @LAB@/written",)


stream = io.BytesIO()
np.lib.format.write_array(stream, np.array([Evil()], dtype=object), allow_pickle=True)
send({"id": "", "status": "ok"}, stream.getvalue())
time.sleep(1000)
