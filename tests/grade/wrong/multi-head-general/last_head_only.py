# mistake: heads-not-joined
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.shape[-1]
    if d_h % n_heads:
        raise ValueError(f'n_heads={n_heads} must divide d_h={d_h}')
    weights = []
    for q, k in zip((decoder_states @ W).chunk(n_heads, -1), encoder_states.chunk(n_heads, -1)):
        w = torch.softmax(q @ k.transpose(1, 2), -1)
        context = w @ k
        weights.append(w)
    return context, torch.stack(weights, 1)
