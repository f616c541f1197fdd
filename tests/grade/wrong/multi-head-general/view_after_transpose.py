# mistake: view-after-transpose
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    B, Td, _ = decoder_states.shape
    Te, d_h = encoder_states.shape[1:]
    if d_h % n_heads:
        raise ValueError(f'{n_heads} heads do not divide {d_h}')
    d = d_h // n_heads
    q = (decoder_states @ W).view(B, Td, n_heads, d).transpose(1, 2)
    k = encoder_states.view(B, Te, n_heads, d).transpose(1, 2)
    a = torch.softmax(q @ k.transpose(2, 3), dim=-1)
    c = (a @ k).transpose(1, 2).view(B, Td, d_h)
    return c, a
