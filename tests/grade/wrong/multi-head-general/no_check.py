# mistake: unclear-error
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    B, Td, _ = decoder_states.shape
    d_h = W.shape[1]
    q = (decoder_states @ W).reshape(B, Td, n_heads, d_h // n_heads).transpose(1, 2)
    k = encoder_states.reshape(B, -1, n_heads, d_h // n_heads).transpose(1, 2)
    w = (q @ k.mT).softmax(-1)
    return (w @ k).transpose(1, 2).reshape(B, Td, d_h), w
