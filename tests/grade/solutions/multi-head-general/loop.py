import torch


def luong_general(queries, memory):
    scores = torch.bmm(queries, memory.transpose(1, 2))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, memory), weights


def multi_head_general(decoder_states, encoder_states, W, n_heads):
    d_h = encoder_states.shape[-1]
    assert d_h % n_heads == 0, f"d_h={d_h} is not a multiple of n_heads={n_heads}"
    size = d_h // n_heads
    projected = torch.matmul(decoder_states, W)
    contexts, all_weights = [], []
    for i in range(n_heads):
        part = slice(i * size, (i + 1) * size)
        context, weights = luong_general(projected[..., part], encoder_states[..., part])
        contexts.append(context)
        all_weights.append(weights)
    return torch.cat(contexts, dim=-1), torch.stack(all_weights, dim=1)
