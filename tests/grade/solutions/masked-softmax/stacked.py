import torch
from torch.nn import functional as F


def one_row(row, n):
    real = row[..., :n].softmax(dim=-1)
    return F.pad(real, (0, row.shape[-1] - n))


def masked_softmax(scores, lengths):
    return torch.stack([one_row(row, int(n)) for row, n in zip(scores, lengths)])
