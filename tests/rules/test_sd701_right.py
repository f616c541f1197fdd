"""SD701: what is stated and right, or may be right, is not told."""

from __future__ import annotations

import pytest

from tests.rules.expectations import found

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

RIGHT = {
    "an arrow above several lines that turn their axes": """
class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        B, L, D = x.size()
        # (B, L, D) -> (B, L, H, D/H)
        query = self.q(x).view(B, -1, self.heads, self.size)
        key = self.k(x).view(B, -1, self.heads, self.size)

        # (B, L, H, D/H) -> (B, H, L, D/H)
        query = query.transpose(1, 2)
        key = key.transpose(1, 2)

        # (B, H, L, D/H) -> (B, H, D/H, L)
        key = key.transpose(2, 3)
        return query @ key
""",
    "an axis that is 1 where it is squeezed out": """
class Writer(nn.Module):
    def __init__(self, width, layers, directions):
        super().__init__()
        self.run = nn.GRU(width, width)
        self.out = nn.Linear(2 * width, width)

    def forward(self, word, state):
        # word = [1, batch size, width]
        # state = [layers * directions, batch size, width]
        found, state = self.run(word, state)
        # found = [1, batch size, width]
        return self.out(torch.cat((word.squeeze(0), state.squeeze(0)), dim=1))
""",
    "every other one, and how many they are": """
class Positions(nn.Module):
    def __init__(self, steps, width):
        super().__init__()
        even = torch.arange(0, width, 2)  # (width // 2,)
        rates = torch.exp(-9.2 / width * even)  # (width/2,)
        self.angles = torch.arange(steps).unsqueeze(1) * rates  # (steps, width/2)
""",
    "a shape that each of a list has": """
class Fusion(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.n = n
        self.ask, self.score = nn.Linear(d, d), nn.Linear(d, 1)

    def weigh(self, parts):
        batch_size, seq_len, _ = parts[-1].size()
        mixed = 0
        for part in parts:
            if len(part.shape) == 2:
                part = part.unsqueeze(1).repeat(1, seq_len, 1)
            mixed = mixed + self.ask(part)
        return F.softmax(self.score(torch.tanh(mixed)).view(batch_size, seq_len), dim=1)

    def forward(self, state, feats):
        '''
        feats: [batch_size, seq_len, dim]
        '''
        found = []
        for i in range(self.n):
            weights = self.weigh([state, feats[i]])
            found.append(torch.bmm(weights.unsqueeze(1), feats[i]).squeeze(1))
        return torch.cat(found, dim=1)
""",
    "a comment with as many axes as are seen, or more": """
def spread(x, y):
    wide = x.unsqueeze(-1).unsqueeze(-1)  # (B, 1, 1)
    wider = wide.unsqueeze(-1)  # (B, T, 1, 1, 1)
    return wider * y
""",
    "above a line whose comment has the name of the variable before": """
def score(v, energy):
    B, d, T = energy.shape
    energy = energy * 2
    # energy: (B, d, T)
    weights = torch.bmm(v.expand(B, 1, d), energy).squeeze(1)

    # energy: (B, T)

    return weights
""",
    "what a caller's comment says of another parameter": """
class Encoder(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.rnn = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, x, lengths):
        lengths, order = lengths.sort(0, descending=True)
        x = x[order]  # (batch, length, width)
        return self.rnn(x)[0]


class Output(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = Encoder(2 * hidden, hidden)

    def forward(self, x, mask):
        # x: (batch, length, width)
        # mask: (batch, length, 1)
        return self.rnn(x, mask.sum(-1))
""",
    "a sequence that every round of a loop makes longer": """
class Model(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.head = nn.Linear(d, words)

    def forward(self, tokens):
        x = read(tokens)  # (B, T, C)
        return self.head(x[:, -1:, :])

    def generate(self, tokens, steps):
        for _ in range(steps):
            logits = self(tokens)  # (B, T, C)
            last = logits[:, -1, :]  # (B, C)
            new = torch.multinomial(F.softmax(last, dim=-1), num_samples=1)  # (B, 1)
            tokens = torch.cat((tokens, new), dim=1)  # (B, T + 1)
        return tokens
""",
    "an arrow above two lines, of what the second makes": """
class Layer(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attend = Heads(d_model, heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        out = self.attend(x, x, x, mask)
        return self.norm(x + out)


class Heads(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_model = d_model
        self.d_k = self.d_model // self.num_heads
        self.q = nn.Linear(self.d_model, self.d_model)
        self.k = nn.Linear(self.d_model, self.d_model)
        self.v = nn.Linear(self.d_model, self.d_model)
        self.out = nn.Linear(self.d_model, self.d_model)

    def forward(self, query, key, value, mask=None):
        batch_size = query.shape[0]
        query = self.q(query)
        value = self.v(value)

        # (batch, seq_len, d_model) -> (batch, seq_len, h, d_k)
        query = query.view(batch_size, -1, self.num_heads, self.d_k)
        value = value.view(batch_size, -1, self.num_heads, self.d_k)

        # (batch, seq_len, h, d_k) -> (batch, h, seq_len, d_k)
        query = torch.transpose(query, 1, 2)
        value = torch.transpose(value, 1, 2)

        # (batch, h, query_len, d_k) -> (batch, query_len, h, d_k)
        scaled_attention = self.read(query, key, value, mask)
        scaled_attention = torch.transpose(scaled_attention, 1, 2).contiguous()

        # (batch, query_len, h, d_k) -> (batch, query_len, d_model)
        concat_attention = scaled_attention.view(batch_size, -1, self.d_model)

        # (batch, query_len, d_model) -> (batch, query_len, d_model)
        multihead_attention = self.out(concat_attention)
        return multihead_attention

    def read(self, query, key, value, mask):
        scores = torch.matmul(query, torch.transpose(key, -2, -1))
        scores = scores.masked_fill(mask == 0, -1e10) if mask is not None else scores
        weights = F.softmax(scores, dim=-1)
        return torch.matmul(weights, value)
""",
    "what one branch knows of a rank is stated nowhere": """
def convert(arrays, weights):
    for name, weight in weights.items():
        if "out" in name:
            v = arrays[name]
            v = v.reshape(v.shape[0] * v.shape[1], v.shape[2])
        else:
            v = arrays[name]
        v = torch.from_numpy(v)
        if len(weight.shape) == 4:
            v = v.permute(3, 2, 0, 1)
        weights[name] = v
""",
    "above what is returned, beside what came before": """
def weights(scores, values):
    batch, time, width = values.shape
    found = scores(values).view(batch, time, 1)
    # (batch, time)
    return found.squeeze(-1)
""",
    "an axis of size 1 where it is said to be": """
def asked(query):
    batch, width = query.shape
    step = query.unsqueeze(1)  # (batch, 1, width)
    return step
""",
    "a step of layout that a later line takes": """
def pooled(x):
    # Squeeze to (batch, channels)
    batch, channels, height, width = x.shape
    y = F.adaptive_avg_pool2d(x, 1)
    return y.flatten(1)
""",
    "a comment that names the source and means what is made of it": """
def split(x, w, heads):
    B, T, D = x.shape
    qkv = (x @ w).reshape(B, T, 3, heads, D // heads)  # x: (B, T, 3, heads, D // heads)
    return qkv
""",
    "a comment that names the source from habit, and means the target": """
class Heads(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.count, self.qkv = count, nn.Linear(width, 3 * width)

    def forward(self, x):
        B, N, C, H = *x.shape, self.count
        qkv = self.qkv(x).reshape(B, N, 3, H, C // H).permute(2, 0, 3, 1, 4)  # x: (3, B, H, N, C // H)
        q, k, v = qkv[0], qkv[1], qkv[2]  # x: (B, H, N, C // H)
        return (q @ k.transpose(-2, -1)) @ v


class Windows(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.heads = Heads(width, count)

    def forward(self, image):
        bs, rows, columns, width = image.shape
        return self.heads(image.reshape(bs, rows * columns, width))
""",
    "comments that are right": """
class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q = nn.Linear(width, width)

    def forward(self, x):
        # x: (B, T, C)
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.heads, self.size)  # (B, T, h, d)
        q = q.transpose(1, 2)  # (B, h, T, d)
        w = q @ q.transpose(-2, -1)  # (B, h, T, T)
        return w.softmax(-1)

Attend(8, 2)(torch.randn(2, 5, 8))
""",
    "an explicit line that is right": """
def scores(q, k):
    n, t, d = q.shape
    n, s, d = k.shape
    out = q @ k.transpose(1, 2)
    # shapedoc: out (n, t, s)
    return out
""",
    "names of their own": """
def attend(q, k):
    a, b, c = q.shape
    logits = q @ k.transpose(1, 2)  # (batch, queries, keys)
    return logits.softmax(-1)  # batch x queries x keys
""",
    "numbers that are values": """
x = torch.tensor([1, 2, 3])  # (1, 2, 3)
y = torch.zeros(4)  # values in (0, 1)
""",
    "an axis of size 1 that is left out": """
def step(x):
    n, t, d = x.shape
    last = x[:, -1:]  # (n, 1, d)
    return last.squeeze(1)  # (n, d)
""",
    "a reduction whose kept axis is left out, of which nothing else is known": """
class Norm(nn.Module):
    def forward(self, x):
        spread = x.var(dim=-1, keepdim=True)  # (B, T)
        normed = (x - x.mean(dim=-1, keepdim=True)) / spread.sqrt()  # (B, T, D)
        return normed
""",
    "a name that the docstring and the code use of two sizes": """
class Attend(nn.Module):
    def weights(self, query, key, cache=None):
        '''
        query: (batch, n_queries, d)
        key: (batch, n_keys, d)
        '''
        batch, n_queries, d = query.shape
        if cache is not None:
            key = torch.cat([key, cache], dim=1)
        batch, n_keys, d = key.shape
        scores = query @ key.transpose(1, 2)  # (batch, n_queries, n_keys)
        return scores

    def forward(self, x, cache=None):
        return self.weights(x, x, cache)
""",
    "an arrow that is said of a step in the middle of the line": """
def regularise(alphas):
    N, t, L = alphas.shape
    total = alphas.sum(dim=1)  # (N, t, L) -> (N, L)
    loss = total.sum(dim=1).mean()  # (N, L) -> (N,)
    return loss
""",
    "an assert about what a loop counts": """
def decode(table, B, d):
    n = 1
    while n < 20:
        step = table[:n].view(n, B, d)
        assert step.shape == (1, B, d)
        n = n + 1
    return step
""",
    "a docstring that lists what a batch is made of, and results by name": """
def train(batch, model):
    '''
    batch: (articles, words, max_len)

    Returns:
        output: the values of shape (B, T, d)
        weights: the weights of shape (B, T)
    '''
    articles, words, max_len = batch
    B, T, d = words.shape
    return words * 2, words.sum(-1)
""",
    "a docstring": """
def attend(q, k):
    '''Attend.

    Args:
        q: queries of shape (batch, T_dec, d)
        k: keys of shape (batch, T_enc, d)

    Returns:
        scores of shape (batch, T_dec, T_enc)
    '''
    return q @ k.transpose(-2, -1)
""",
    "an arrow of a part": """
class Decoder(nn.Module):
    def forward(self, hidden, memory):
        query = hidden[-1].unsqueeze(1)  # [layers, B, D] -> [B, 1, D]
        return query + memory
""",
    "an arrow that puts in the axes of its line": """
def hide(scores, mask):
    # (batch, T) -> (batch, 1, 1, T)
    mask = mask.unsqueeze(-2).unsqueeze(-2)
    return scores * torch.logical_not(mask)
""",
    "an arrow after the name of what goes in": """
class Words(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.table = nn.Embedding(vocab, d)
        self.encoder = nn.GRU(d, d, batch_first=True)

    def forward(self, tokens):
        x = self.table(tokens)  # tokens -> (B, T)
        return self.encoder(x)[0]  # (B, T, d)
""",
    "a comment above what it speaks of": """
class Scores(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out = nn.Linear(d, 1)

    def forward(self, memory, state):
        # memory = (batch, T, d)
        hidden = memory.unsqueeze(1).squeeze(1)
        z = F.tanh(hidden + state.view(-1, 1, 16))
        # z = (batch, T)
        z = self.out(z).squeeze(2)
        return z
""",
    "an arrow between two steps that says what the second one does": """
class Location(nn.Module):
    def __init__(self, channels, d):
        super().__init__()
        self.conv, self.out = nn.Conv2d(1, channels, (1, 3), padding=(0, 1)), nn.Linear(channels, d)

    def forward(self, before, frames):
        batch = len(before)
        # before: utt x frame -> utt x channels x 1 x frame
        att_conv = self.conv(before.view(batch, 1, 1, frames))
        # att_conv: utt x channels x 1 x frame -> utt x frame x channels
        att_conv = att_conv.squeeze(2).transpose(1, 2)
        return self.out(att_conv)
""",
    "what the loss is to be given, in front of the views that make it": """
def loss(logits, tokens, vocabulary):
    labels = tokens[:, 1:].contiguous()
    # two axes for the loss: logits: [batch_size * seq_length, vocabulary] and labels: [batch_size * seq_length]
    logits = logits[:, :-1].contiguous().view(-1, vocabulary)
    labels = labels.view(-1)
    return F.cross_entropy(logits, labels)
""",
    "what the same variable is viewed with in the next step": """
class Decoder(nn.Module):
    def __init__(self, d, words):
        super().__init__()
        self.out = nn.Linear(d, words)

    def forward(self, state, batch_size, words, d):
        state = state.view(batch_size, d)
        # what the words get: (batch_size, 1, d) -> (batch_size, 1, words)
        logit = self.out(state)

        logit = logit.view(batch_size, 1, words)
        return logit
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD701", "SD702") == []
