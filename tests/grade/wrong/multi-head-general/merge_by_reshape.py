# mistake: heads-merged-by-view
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    B, Td, _ = decoder_states.shape
    d_h = encoder_states.size(-1)
    if d_h % n_heads:
        raise ValueError(f'{n_heads} heads do not divide {d_h}')
    split = lambda x: x.unflatten(-1, (n_heads, d_h // n_heads)).transpose(1, 2)
    q, k = split(decoder_states @ W), split(encoder_states)
    a = torch.softmax(q @ k.mT, dim=-1)
    return (a @ k).reshape(B, Td, d_h), a
