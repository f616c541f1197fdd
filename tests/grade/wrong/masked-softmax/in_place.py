# mistake: changes-input
import torch

def masked_softmax(scores, lengths):
    pad = torch.arange(scores.shape[-1])[None] >= lengths[:, None]
    if scores.dim() == 3:
        pad = pad[:, None]
    scores.masked_fill_(pad, -1e9)
    return scores.softmax(-1).masked_fill(pad, 0)
