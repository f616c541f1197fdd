# mistake: softmax-over-queries
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.shape[-1]
    if d_h % n_heads:
        raise ValueError(f'n_heads={n_heads} must divide d_h={d_h}')
    B, T, _ = decoder_states.shape
    q = (decoder_states @ W).view(B, T, n_heads, -1).permute(0, 2, 1, 3)
    k = encoder_states.view(B, -1, n_heads, d_h // n_heads).permute(0, 2, 3, 1)
    a = torch.softmax(q.matmul(k), dim=2)
    c = a.matmul(k.transpose(2, 3))
    return c.permute(0, 2, 1, 3).flatten(2), a
