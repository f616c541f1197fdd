# mistake: heads-do-not-divide unclear-error
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d = encoder_states.shape[-1] // n_heads
    qs = (decoder_states @ W).split(d, -1)[:n_heads]
    ks = encoder_states.split(d, -1)[:n_heads]
    ws = [torch.softmax(q @ k.mT, -1) for q, k in zip(qs, ks)]
    return torch.cat([w @ k for w, k in zip(ws, ks)], -1), torch.stack(ws, 1)
