# mistake: mismatched-elementwise wrong-rank mismatched-product
import torch

def masked_softmax(scores, lengths):
    keep = torch.arange(scores.shape[1])[None, :] < lengths[:, None]
    w = torch.softmax(scores.masked_fill(~keep, -1e9), dim=1)
    return w * keep
