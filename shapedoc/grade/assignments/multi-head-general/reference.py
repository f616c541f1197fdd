"""A right solution of multi-head-general."""

import torch


def multi_head_general(decoder_states, encoder_states, W, n_heads):
    """Luong's general attention, head by head.

    decoder_states (B, T_dec, d_s), encoder_states (B, T_enc, d_h), W (d_s, d_h)
    -> context (B, T_dec, d_h), weights (B, n_heads, T_dec, T_enc)
    """
    B, T_dec, _ = decoder_states.shape
    T_enc, d_h = encoder_states.shape[1:]
    if d_h % n_heads != 0:
        raise ValueError(f"d_h = {d_h} does not split into n_heads = {n_heads} equal heads")
    d_head = d_h // n_heads
    queries = (decoder_states @ W).view(B, T_dec, n_heads, d_head).transpose(1, 2)  # (B, n_heads, T_dec, d_head)
    keys = encoder_states.view(B, T_enc, n_heads, d_head).transpose(1, 2)  # (B, n_heads, T_enc, d_head)
    scores = queries @ keys.transpose(-2, -1)  # (B, n_heads, T_dec, T_enc)
    weights = torch.softmax(scores, dim=-1)
    context = (weights @ keys).transpose(1, 2).reshape(B, T_dec, d_h)
    return context, weights
