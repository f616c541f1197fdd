# mistake: heads-not-joined
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    if encoder_states.size(-1) % n_heads != 0:
        raise ValueError('n_heads must divide d_h')
    qs = (decoder_states @ W).chunk(n_heads, -1)
    ks = encoder_states.chunk(n_heads, -1)
    ws = [torch.softmax(q @ k.mT, -1) for q, k in zip(qs, ks)]
    return torch.stack([w @ k for w, k in zip(ws, ks)], 1), torch.stack(ws, 1)
