# mistake: mask-fills-too-little
import torch

def masked_softmax(scores, lengths):
    keep = torch.arange(scores.shape[-1])[None, :] < lengths[:, None]
    keep = keep if scores.ndim == 2 else keep[:, None]
    return (scores * keep).softmax(-1)
