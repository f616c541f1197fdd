"""SD106: linear maps that are built with their two sizes the wrong way round."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from elsewhere import Backbone, BaseReader

"""

WRONG = {
    "the map of the keys beside those of queries and values": """
class Attend(nn.Module):
    def __init__(self, attend, d_model, d_attn):
        super().__init__()
        self.attend = attend
        self.q, self.v = nn.Linear(d_model, d_attn), nn.Linear(d_model, d_attn)
        self.k = nn.Linear(d_attn, d_model)  # <- SD106

    def forward(self, query, key, value):
        return self.attend(self.q(query), self.k(key), self.v(value))
""",
    "what it makes is added to what another map makes": """
class Scorer(nn.Module):
    def __init__(self, d_state, d_memory, d_score):
        super().__init__()
        self.state = nn.Linear(d_score, d_state)  # <- SD106
        self.memory = nn.Linear(d_memory, d_score)
        self.score = nn.Linear(d_score, 1)

    def forward(self, state, memory):
        seen = self.state(state).unsqueeze(1).repeat(1, memory.size(1), 1)
        return self.score(torch.tanh(seen + self.memory(memory)))
""",
    "what it makes goes into a norm of the other size": """
class Regions(nn.Module):
    def __init__(self, d_image, width):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(width, d_image), nn.ReLU())  # <- SD106
        self.norm = nn.LayerNorm(width)  # <- note SD106

    def forward(self, regions):
        return self.norm(self.image(regions))
""",
    "one number is taken of two tensors side by side": """
class Pointer(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Linear(1, 4 * hidden)  # <- SD106

    def forward(self, start, end):
        return self.first(torch.cat([start, end], dim=-1)).softmax(dim=-1)
""",
    "a softmax over words behind a model that is not followed": """
class Writer(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.backbone = Backbone(width)
        self.out = nn.Linear(vocab_size, width)  # <- SD106

    def forward(self, tokens):
        return F.log_softmax(self.out(self.backbone(tokens)), dim=-1)
""",
    "classes that are returned behind a model that is not followed": """
class Sorter(nn.Module):
    def __init__(self, num_classes, width):
        super().__init__()
        self.backbone = Backbone(width)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(num_classes, width)  # <- SD106

    def forward(self, images):
        return self.head(self.drop(self.backbone(images)))
""",
    "a width that was divided in another class": """
class Heads(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.width = config.heads, config.width
        self.all = nn.Linear(config.width, 3 * config.width)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.all(x).split(self.width, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        mixed = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        return mixed.transpose(1, 2).reshape(B, T, C)

class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.words, config.width)
        self.mix = Heads(config)
        self.out = nn.Linear(config.words, config.width)  # <- SD106

    def forward(self, tokens):
        B, T = tokens.size()
        return self.out(self.mix(self.embed(tokens)))
""",
    "sizes that a base class in another file keeps": """
class Reader(BaseReader):
    def __init__(self, params):
        super().__init__(params)
        self.start = nn.Linear(self.params["d_memory"], self.params["d_state"])
        self.gate = nn.Linear(self.params["d_memory"], self.params["d_state"])  # <- SD106
        self.step = nn.LSTMCell(self.params["d_memory"], self.params["d_state"])
        self.words = nn.Linear(self.n_words, self.params["d_state"])  # <- SD106

    def forward(self, memory):
        hidden = self.start(memory.mean(dim=1))
        hidden, cell = self.step(memory[:, 0], (hidden, hidden))
        return self.words(hidden), torch.sigmoid(self.gate(hidden)) * memory.mean(dim=1)
""",
}

WRONG |= {
    "two classes, behind a model that is not followed": """
class NextSentence(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = Backbone(width)
        self.follows = nn.Linear(2, width)  # <- SD106

    def forward(self, tokens):
        return F.log_softmax(self.follows(self.body(tokens)), dim=-1)
""",
    "what is called logits, behind a model that is not followed": """
class Tagger(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.body = Backbone(width)
        self.final = nn.Linear(vocab_size, width)  # <- SD106

    def forward(self, tokens):
        out = {}
        logits = self.final(self.body(tokens))
        out["logits"] = logits
        return out
""",
    "words that are made of a state which has the size that is made": """
class Writer(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.cell = nn.LSTMCell(width, width)
        self.words = nn.Linear(vocab_size, width)  # <- SD106

    def forward(self, x):
        h, c = self.cell(x)
        return F.log_softmax(self.words(h), dim=-1)
""",
    "two halves that are joined, and nobody knows how wide they are": """
class Joined(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = Backbone(size)
        self.mix = nn.Linear(size, size + size)  # <- SD106

    def forward(self, x):
        return x + self.mix(torch.cat((x, self.body(x)), dim=-1))
""",
    "the sum of what is joined": """
class Frames(nn.Module):
    def __init__(self, n_mels, d_state, d_context):
        super().__init__()
        self.body = Backbone(d_state)
        self.cell = nn.LSTMCell(n_mels, d_state)
        self.frame = nn.Linear(n_mels, d_state + d_context)  # <- SD106

    def forward(self, x):
        h, c = self.cell(x)
        return self.frame(torch.cat([h, self.body(h)], -1))
""",
}

RIGHT = {
    "two features that a softmax says nothing of": """
class Points(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lift = nn.Linear(2, width)
        self.score = nn.Linear(width, 1)

    def forward(self, points):
        return F.softmax(self.score(torch.tanh(self.lift(Backbone(points)))), dim=1)
""",
    "heads of three coordinates, weighed over the places": """
class Places(nn.Module):
    def __init__(self, n_heads):
        super().__init__()
        self.body = Backbone(3)
        self.place = nn.Linear(3, n_heads)

    def forward(self, x):
        return F.softmax(self.place(self.body(x)).permute(0, 3, 1, 2), dim=-1)
""",
    "a map that keeps the size": """
class Kept(nn.Module):
    def __init__(self, out_dim):
        super().__init__()
        self.cell, self.again = nn.LSTMCell(out_dim, out_dim), nn.Linear(out_dim, out_dim)

    def forward(self, x):
        return self.again(self.cell(x)[0])
""",
    "an output that is fed back": """
class Prenet(nn.Module):
    def __init__(self, output_size, width):
        super().__init__()
        self.body = Backbone(width)
        self.back = nn.Linear(output_size, width)

    def forward(self, x):
        return self.back(self.body(x))
""",
    "a gate and its input, of two halves": """
class Gated(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.one, self.two = nn.Linear(size, size), nn.Linear(size, size)
        self.mix = nn.Linear(2 * size, 4 * size)

    def forward(self, x):
        return self.mix(torch.cat((self.one(x), self.two(x)), dim=-1))
""",
    "maps of three inputs, each of a size of its own": """
class Attend(nn.Module):
    def __init__(self, attend, d_query, d_key, d_model):
        super().__init__()
        self.attend = attend
        self.q, self.k = nn.Linear(d_query, d_model), nn.Linear(d_key, d_model)
        self.v = nn.Linear(d_key, d_key)

    def forward(self, query, key, value):
        return self.attend(self.q(query), self.k(key), self.v(value))
""",
    "what it makes is added to what it was made of": """
class Residual(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.map = nn.Linear(d_in, d_out)
        self.norm = nn.LayerNorm(d_out)

    def forward(self, x):
        return self.norm(x + self.map(x))
""",
    "another layer says that the input has this size": """
class Scorer(nn.Module):
    def __init__(self, d_state, d_memory, d_score):
        super().__init__()
        self.state = nn.Linear(d_score, d_state)
        self.gate = nn.Linear(d_score, d_score)
        self.memory = nn.Linear(d_memory, d_score)

    def forward(self, state, memory):
        return torch.tanh(self.state(state) + self.memory(memory)) * self.gate(state)
""",
    "one number beside nothing": """
class Positions(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Linear(1, hidden)

    def forward(self, times):
        return self.first(times.unsqueeze(-1))
""",
    "words that come in as such": """
class Bag(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.map = nn.Linear(vocab_size, width)

    def forward(self, counts):
        return self.map(counts)
""",
    "a softmax of what another map makes of words": """
class Again(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.backbone = Backbone(vocab_size)
        self.out = nn.Linear(width, vocab_size)
        self.back = nn.Linear(vocab_size, width)

    def forward(self, x):
        return self.back(self.out(x).softmax(-1))
""",
    "a hidden layer behind a model that is not followed": """
class Second(nn.Module):
    def __init__(self, num_classes, width):
        super().__init__()
        self.backbone = Backbone(num_classes)
        self.hidden = nn.Linear(num_classes, width)
        self.out = nn.Linear(width, num_classes)

    def forward(self, images):
        return self.out(torch.relu(self.hidden(self.backbone(images)))).softmax(-1)
""",
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong(name: str) -> None:
    text = HEAD + WRONG[name]
    assert found(text, "SD106") == expected(text)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right(name: str) -> None:
    assert [f for f in found(HEAD + RIGHT[name], "SD106") if not f.note] == []
