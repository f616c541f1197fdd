import torch


def masked_softmax(scores, lengths):
    shape = [len(lengths)] + [1] * (scores.dim() - 1)
    keep = torch.arange(scores.shape[-1]) < lengths.view(shape)
    keep = keep.expand_as(scores)
    empty = ~keep.any(dim=-1, keepdim=True)
    filled = scores.masked_fill(~keep & ~empty, float("-inf"))
    log_weights = filled - torch.logsumexp(filled, dim=-1, keepdim=True)
    return log_weights.exp().masked_fill(empty, 0.0)
