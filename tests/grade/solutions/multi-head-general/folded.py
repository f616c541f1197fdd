import torch


def multi_head_general(decoder_states, encoder_states, W, n_heads):
    B, T_dec, d_s = decoder_states.size()
    T_enc, d_h = encoder_states.size(1), encoder_states.size(2)
    d_head, left = divmod(d_h, n_heads)
    if left:
        raise ValueError(f"cannot give {n_heads} heads equal shares of {d_h} features")

    def heads_into_batch(x):
        x = x.reshape(B, x.size(1), n_heads, d_head).permute(0, 2, 1, 3)
        return x.reshape(B * n_heads, x.size(2), d_head)

    q = heads_into_batch(decoder_states.matmul(W))
    k = heads_into_batch(encoder_states)
    attention = torch.softmax(torch.bmm(q, k.permute(0, 2, 1)), dim=2)
    context = torch.bmm(attention, k).reshape(B, n_heads, T_dec, d_head)
    context = context.permute(0, 2, 1, 3).reshape(B, T_dec, d_h)
    return context, attention.reshape(B, n_heads, T_dec, T_enc)
