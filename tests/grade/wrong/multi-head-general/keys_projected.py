# mistake: weight-transposed mismatched-product projection-missing
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.shape[-1]
    if d_h % n_heads:
        raise ValueError(f'n_heads={n_heads} must divide d_h={d_h}')
    B, T, _ = decoder_states.shape
    k = (encoder_states @ W).view(B, -1, n_heads, d_h // n_heads).transpose(1, 2)
    q = decoder_states.view(B, T, n_heads, -1).transpose(1, 2)
    a = torch.softmax(q @ k.mT, dim=-1)
    return (a @ k).transpose(1, 2).flatten(2), a
