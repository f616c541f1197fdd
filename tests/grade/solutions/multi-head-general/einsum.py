import torch


def multi_head_general(decoder_states, encoder_states, W, n_heads):
    batch, steps, _ = decoder_states.shape
    _, length, width = encoder_states.shape
    if width % n_heads:
        raise ValueError(f"{width} features cannot be split into {n_heads} heads")
    q = torch.einsum("bts,sh->bth", decoder_states, W).reshape(batch, steps, n_heads, -1)
    k = encoder_states.reshape(batch, length, n_heads, -1)
    weights = torch.einsum("bthd,bshd->bhts", q, k).softmax(dim=-1)
    context = torch.einsum("bhts,bshd->bthd", weights, k)
    return context.reshape(batch, steps, width), weights
