# mistake: heads-split-by-view
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    B, Td, _ = decoder_states.shape
    Te, d_h = encoder_states.shape[1:]
    if d_h % n_heads:
        raise ValueError(f'{n_heads} heads do not divide {d_h}')
    q = decoder_states @ W
    q = q.view(B, n_heads, Td, d_h // n_heads)
    k = encoder_states.view(B, n_heads, Te, d_h // n_heads)
    a = torch.softmax(q @ k.transpose(-1, -2), -1)
    c = a @ k
    return c.view(B, Td, d_h), a
