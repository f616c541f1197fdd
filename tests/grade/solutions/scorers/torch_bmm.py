import torch


def dot_score(state, memory):
    return torch.bmm(memory, state.unsqueeze(2)).squeeze(2)


def general_score(state, memory, W):
    return torch.bmm(memory, torch.matmul(state, W).unsqueeze(2)).squeeze(2)


def concat_score(state, memory, W, v):
    repeated = state.unsqueeze(1).expand(-1, memory.size(1), -1)
    joined = torch.cat([repeated, memory], dim=2)
    return torch.tanh(torch.nn.functional.linear(joined, W)).matmul(v)


def additive_score(state, memory, W_a, U_a, v_a):
    query = torch.nn.functional.linear(state, W_a).unsqueeze(1)
    keys = torch.nn.functional.linear(memory, U_a)
    return torch.tanh(query + keys).matmul(v_a)
