"""Tries: to read the memory, the environment and the files of the grader through /proc

expected: done
marks: none
"""

import os

import torch


def masked_softmax(scores, lengths):
    for pid in ("self", os.getppid(), "@PARENT@"):
        for name in ("environ", "mem", "maps", "cmdline", "root/etc/passwd", "cwd/pyproject.toml"):
            try:
                open(f"/proc/{pid}/{name}", "rb").read(1)
            except OSError:
                continue
            print("READ", pid, name)
    open("/proc/self/environ")
