# mistake: values-of-another-head
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.size(-1)
    if d_h % n_heads != 0:
        raise ValueError('d_h must be divisible by n_heads')
    q = (decoder_states @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = encoder_states.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    w = torch.softmax(q @ k.mT, -1)
    out = [w[:, i] @ k[:, i - 1] for i in range(n_heads)]
    return torch.cat(out, -1), w
