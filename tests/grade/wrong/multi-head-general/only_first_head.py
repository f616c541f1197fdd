# mistake: heads-all-alike
import torch

def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.size(-1)
    if d_h % n_heads != 0:
        raise ValueError('d_h must be divisible by n_heads')
    scores = decoder_states @ W @ encoder_states.transpose(1, 2)
    weights = torch.softmax(scores, dim=-1)
    context = weights @ encoder_states
    return context, weights.unsqueeze(1).repeat(1, n_heads, 1, 1)
