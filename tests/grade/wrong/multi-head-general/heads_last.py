# mistake: wrong-shape
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.shape[-1]
    if d_h % n_heads:
        raise ValueError(f'n_heads={n_heads} must divide d_h={d_h}')
    q = (decoder_states @ W).unflatten(-1, (n_heads, -1))
    k = encoder_states.unflatten(-1, (n_heads, -1))
    a = torch.einsum('bqhd,bkhd->bqkh', q, k).softmax(2)
    return torch.einsum('bqkh,bkhd->bqhd', a, k).flatten(2), a
