# mistake: extra-nonlinearity
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.size(-1)
    if d_h % n_heads != 0:
        raise ValueError('d_h must be divisible by n_heads')
    q = torch.tanh(decoder_states @ W).unflatten(-1, (n_heads, -1))
    k = encoder_states.unflatten(-1, (n_heads, -1))
    w = torch.einsum('bqhd,bkhd->bhqk', q, k).softmax(-1)
    return torch.einsum('bhqk,bkhd->bqhd', w, k).flatten(2), w
