# mistake: scores-scaled
import math
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.size(-1)
    if d_h % n_heads != 0:
        raise ValueError('d_h must be divisible by n_heads')
    d = d_h // n_heads
    out, att = [], []
    for h in range(n_heads):
        q = (decoder_states @ W)[:, :, h * d:(h + 1) * d]
        k = encoder_states[:, :, h * d:(h + 1) * d]
        w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
        out.append(w @ k)
        att.append(w)
    return torch.cat(out, -1), torch.stack(att, 1)
