"""Right code as projects and homework have it, of kinds that were once told as wrong: nothing is found in any of it."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import copy\nimport math\n\nimport numpy as np\nimport torch\nimport torch.nn as nn\n\n\n"

RIGHT = {
    "a shape with sizes that are passed on": """
class Heads(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.query, self.key = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, sizes):
        q, k = self.query(x), self.key(x)
        q = q.view(*q.size()[:-1], *sizes).permute(0, 2, 1, 3)
        return q, k.permute(0, 2, 1)
""",
    "a width divided by a product with -1 in it": """
def cut_last(x, sizes):
    sizes = list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = int(x.size(-1) / -np.prod(sizes))
    return x.view(*x.size()[:-1], *sizes)


def join_last(x):
    return x.view(*x.size()[:-2], -1)


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.key, self.heads = nn.Linear(d, d), heads

    def forward(self, x):
        k = self.key(x)
        (k,) = (cut_last(y, (self.heads, -1)).transpose(1, 2) for y in [k])
        return join_last(k.transpose(1, 2).contiguous())


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.attend, self.out = Attention(d, heads), nn.Linear(d, d)

    def forward(self, x):
        return self.out(self.attend(x))
""",
    "what has been moved is a model": """
def validate(model, batches, device):
    model = model.to(device)
    for batch in batches:
        model.to(device)
        yield model(batch)
""",
    "a score for each sequence that is added to": """
class Fire(nn.Module):
    def forward(self, states, lengths, rates):
        B, T, d = states.shape
        rates = rates * lengths.float().unsqueeze(1)
        total = states.new_zeros(B)
        state = states.new_zeros(B, d)
        for t in range(T):
            before = total
            total += rates[:, t]
            for b in range(B):
                left = 1 - before[b]
                state[b] = left * states[b, t]
        return state
""",
    "memory that elementwise arithmetic keeps": """
def expand(scores, totals, beam):
    B, K, V = scores.shape
    best, words = scores.topk(beam)
    best = (best.permute(0, 2, 1) + totals.view(B, K).unsqueeze(1)).permute(0, 2, 1)
    return best.view(B, K * beam), words
""",
    "a choice of scores, scaled or not": """
class Attention(nn.Module):
    def __init__(self, d, d_k, score="dot"):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(d, d_k), nn.Linear(d, d_k), nn.Linear(d, d_k)
        self.d_k, self.score = d_k, score

    def forward(self, x, memory):
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        if self.score == "dot":
            scores = torch.bmm(q, k.transpose(1, 2))
        elif self.score == "scaled_dot":
            product = torch.bmm(q, k.transpose(1, 2))
            scores = product / math.sqrt(self.d_k)
        else:
            raise ValueError(self.score)
        return torch.bmm(scores.softmax(-1), v)
""",
    "a flag for the scale": """
class Attention(nn.Module):
    def __init__(self, d, scale=True):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        if scale:
            self.root = np.sqrt(d)
        else:
            self.root = 1

    def forward(self, x, memory):
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        scores = torch.bmm(q, k.transpose(1, 2)) / self.root
        return torch.bmm(scores.softmax(-1), v)
""",
    "keys without a length": """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Linear(d, d)

    def forward(self, k, q):
        if len(q.shape) == 2:
            q = torch.unsqueeze(q, dim=1)
        if len(k.shape) == 2:
            k = torch.unsqueeze(k, dim=1)
        weights = torch.bmm(self.w(q), k.transpose(1, 2)).softmax(dim=-1)
        return torch.bmm(weights, k)
""",
    "one row squeezed to its words": """
def best(model, word, state, beam):
    for _ in range(9):
        state = model.cell(model.embed(torch.tensor([word])), state)
        chances = torch.softmax(model.out(torch.tanh(state)).squeeze(), dim=0)
        values, words = torch.topk(chances, beam)
        word = words.tolist()[0]
    return word
""",
    "stacked cells, of another width above": """
class Cells(nn.Module):
    def __init__(self, d_in, d, n=1):
        super().__init__()
        cells = [nn.LSTMCell(d_in, d)]
        if n > 1:
            cells += [nn.LSTMCell(d, d) for _ in range(n - 1)]
        self.cells, self.n = nn.ModuleList(cells), n

    def forward(self, x, states=None):
        if states is not None:
            hs, cs = (torch.chunk(s, self.n, dim=-1) for s in states)
        for i, cell in enumerate(self.cells):
            if states is None:
                x, c = cell(x)
            else:
                x, c = cell(x, (hs[i], cs[i]))
        return x


class Decoder(nn.Module):
    def __init__(self, words, d_word, d, layers=2, above=2):
        super().__init__()
        self.width = d * 2 * layers
        self.embed = nn.Embedding(len(words), d_word)
        self.cell = Cells(d_word + self.width // layers, self.width // layers, n=above)
        self.layers = layers

    def forward(self, tokens, states):
        x = self.embed(tokens[..., 0])
        x = torch.cat((x, x.new_zeros(x.size(0), self.width // self.layers)), dim=-1)
        return self.cell(x, states)
""",
    "an array in a file that knows torch, too": """
def forward(x, w, b):
    n = x.shape[0]
    return x.reshape(n, -1).dot(w) + b


def convolve(x, w):
    return torch.nn.functional.conv2d(torch.from_numpy(x), torch.from_numpy(w))
""",
    "a comment above the lines that make it": """
class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.query, self.key, self.heads = nn.Linear(d, d), nn.Linear(d, d), heads

    def forward(self, x):
        # Shape of x: (batch, length, d)
        B, T, d = x.shape

        # Shape of q: (batch, heads, length, d_head)
        q = self.query(x)
        q = q.view(B, T, self.heads, -1).transpose(1, 2)

        # Shape of k: (batch, heads, length, d_head)
        k = self.key(x)
        k = k.view(B, T, self.heads, -1).transpose(1, 2)
        return q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
""",
    "the type of a layer": """
class Patches(nn.Module):
    def __init__(self, d, kind="2d"):
        super().__init__()
        if kind == "2d":
            self.cut = nn.Conv2d(3, d, kernel_size=4, stride=4)
        else:
            self.cut = nn.Conv3d(3, d, kernel_size=(2, 4, 4), stride=(2, 4, 4))

    def forward(self, x):
        B, T, C, H, W = x.shape
        kind = type(self.cut)
        if kind == nn.Conv3d:
            x = self.cut(x.permute(0, 2, 1, 3, 4))
        elif kind == nn.Conv2d:
            x = self.cut(x.reshape(B * T, C, H, W))
        return x
""",
    "places of an odd number": """
def places(length, d):
    table = torch.zeros(length, d)
    at = torch.arange(-(length // 2), length // 2 + 1).unsqueeze(1).float()
    rates = torch.exp(torch.arange(0, d, 2).float() * -(math.log(10000.0) / d))
    table[:, 0::2] = torch.sin(at * rates)
    table[:, 1::2] = torch.cos(at * rates)
    return table
""",
    "what one example has": """
class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.left, self.right = nn.LSTM(d, d, batch_first=True), nn.LSTM(d, d, batch_first=True)

    def forward(self, words, aspect):
        v, (_, _) = self.left(words)
        e, (_, _) = self.right(aspect)
        scores = torch.bmm(e, v.transpose(1, 2))
        weights = scores.softmax(1)  # (aspect_len,context_len)
        return torch.bmm(e.transpose(1, 2), weights)
""",
    "features shuffled among groups": """
def shuffled(cells, x):
    B, T, d, G = x.shape
    x = torch.stack([cells[i](x[..., i]) for i in range(G)], dim=-1) if cells else x
    x = x.flatten(2)
    return x.reshape(B, T, G, d).transpose(-1, -2).contiguous().view(B, T, -1)


def plainly(x):
    B, T, d, G = x.shape
    return x.flatten(2).reshape(B, T, G, d).transpose(2, 3).flatten(2)
""",
    "patches of grey images": """
from einops import rearrange


class Patches(nn.Module):
    def __init__(self, size, patch, d, channels=1):
        super().__init__()
        self.patch = patch
        self.embed = nn.Linear(channels * patch**2, d)

    def forward(self, images):
        p = self.patch
        return self.embed(rearrange(images, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=p, p2=p))
""",
    "a part of a shape under one name": """
def attend(q, k, v):
    dims, kind = q.shape[:-1], q.dtype
    if k.numel() > 0:
        q, k, v = (t.permute(0, 2, 1, 3) for t in (q, k, v))
    out = q.new_zeros((*dims, v.shape[-1]), dtype=kind)
    return out, q @ k.transpose(-2, -1)
""",
    "a comment on what is turned of what is not known": """
from elsewhere import load


def product():
    batch, n_tags, rank = 4, 21, 3
    head = load("head")  # (batch, n_tags, rank)
    left = load("left").transpose(1, 2)  # (batch, rank, n_tags)
    kept = left[:, :n_tags]
    return torch.matmul(head.transpose(1, 2), kept)
""",
    "before and after": """
class Patches(nn.Module):
    def __init__(self, channels, d):
        super().__init__()
        self.out = nn.Linear(channels, d)

    def forward(self, x):
        h, w = x.shape[2:]

        # Before: shape of x: (batch, channels, height, width)
        # After: shape of x: (batch, height * width, channels)
        x = x.flatten(2).transpose(1, 2)
        return self.out(x)
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
