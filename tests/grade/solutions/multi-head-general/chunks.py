import torch


def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = W.shape[1]
    if d_h % n_heads != 0:
        raise ValueError("n_heads must divide d_h, got n_heads=%d and d_h=%d" % (n_heads, d_h))
    queries = torch.stack((decoder_states @ W).chunk(n_heads, dim=-1), dim=1)
    keys = torch.stack(encoder_states.chunk(n_heads, dim=-1), dim=1)
    weights = torch.matmul(queries, keys.mT).softmax(dim=-1)
    heads = torch.matmul(weights, keys)
    context = torch.cat(heads.unbind(dim=1), dim=-1)
    return context, weights
