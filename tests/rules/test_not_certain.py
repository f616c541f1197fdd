"""What only looks wrong as long as something is not known: each program says what is found in it, and nothing else is."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from tests.rules.expectations import Found, expected

HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"

FIRST_CELL_OF_A_STACK = """\
class Stack(nn.Module):
    def __init__(self, count, d_in, d):
        super().__init__()
        self.cells = nn.ModuleList()
        for _ in range(count):
            self.cells.append(nn.GRUCell(d_in, d))
            d_in = d

    def forward(self, x, states):
        for i, cell in enumerate(self.cells):
            x = cell(x, states[i])
        for cell, state in zip(self.cells, states):
            x = cell(x, state)  # <- SD106
        return x


result = Stack(9, 20, 30)(torch.randn(5, 20), torch.randn(9, 5, 30))
"""

A_STACK_DEEP_INSIDE_OTHER_LOOPS = """\
class Stack(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(d_in, d), nn.GRUCell(d, d)])

    def forward(self, x, states):
        for i, cell in enumerate(self.cells):
            x = cell(x, states[i])
        return x


def train(model, batches):
    for epoch in range(90):
        for batch in batches:
            for step in batch.unbind(1):
                model(step, torch.zeros(2, 5, 30))


train(Stack(20, 30), torch.randn(40, 5, 7, 20))
"""

FIRST_LAYER_IN_A_COMPREHENSION = """\
class Stack(nn.Module):
    def __init__(self, count, d_in, d):
        super().__init__()
        self.layers = nn.ModuleList([nn.GRU(d_in if i == 0 else d, d) for i in range(count)])

    def forward(self, x):
        for layer in self.layers:
            x, _ = layer(x)
        return x


result = Stack(9, 20, 30)(torch.randn(7, 5, 20))
"""

EDGES_BY_MULTIPLES = """\
class Parts(nn.Module):
    def __init__(self, d, part):
        super().__init__()
        self.part = part
        self.first, self.second = nn.Linear(d + part, d), nn.Linear(d + part, d)

    def forward(self, x, extra):
        edges = [self.part * i for i in range(6)]
        x = self.first(torch.cat([x, extra[:, edges[0] : edges[1]]], dim=1))
        return self.second(torch.cat([x, extra[:, edges[1] : edges[2]]], dim=1))
"""

LAYERS_OF_ONE_KIND_OR_ANOTHER = """\
class Mixer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first = nn.Linear(d, d)

    def forward(self, x, bias):
        return self.first(x) + bias


class Pooler(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first = nn.Linear(d, d)

    def forward(self, x, table):
        return torch.bmm(self.first(x), table)


class Model(nn.Module):
    def __init__(self, count, d, kind):
        super().__init__()
        self.kind = kind
        self.layers = nn.ModuleList()
        if kind == 0:
            for _ in range(count):
                self.layers.append(Mixer(d))
        else:
            for _ in range(count):
                self.layers.append(Pooler(d))
        self.bias, self.table = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.zeros(1, d, d))

    def forward(self, x):
        if self.kind == 0:
            for layer in self.layers:
                x = layer(x, self.bias)
        else:
            for layer in self.layers:
                x = layer(x, self.table)
        return x
"""

A_PART_THAT_SETTLES_A_TEST = """\
def step(x, layer, norm, keep, attends=(False, None)):
    if torch.rand(1) < keep and attends[0]:
        y, _ = layer(norm(x).permute(1, 0, 2))
        return x + y.permute(1, 0, 2)
    return x + layer(norm(x))


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layer, self.norm = nn.Linear(d, d), nn.LayerNorm(d)

    def forward(self, x, keep):
        B, T, d = x.shape
        return step(x, self.layer, self.norm, keep)
"""

WHAT_A_LIBRARY_CONSTRUCTOR_IS_GIVEN = """\
class Standardised(nn.Conv2d):
    def forward(self, x):
        weight = self.weight - self.weight.mean(dim=[1, 2, 3], keepdim=True)
        return F.conv2d(x, weight, self.bias, self.stride, self.padding)


class Net(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = Standardised(3, c, kernel_size=3, stride=1, padding=1, bias=True)

    def forward(self, image):
        return self.conv(image)
"""

ANOTHER_KIND_OF_LAYER = """\
class Reader(nn.Module):
    def __init__(self, d, kind="GRU"):
        super().__init__()
        make = nn.LSTM if kind == "LSTM" else nn.GRU
        self.rnn = make(d, d, batch_first=True)

    def forward(self, x, h):
        if isinstance(self.rnn, nn.LSTM):
            out, _ = self.rnn(x, (h, torch.zeros_like(h)))
        elif isinstance(self.rnn, nn.GRU):
            out, _ = self.rnn(x, h)
        return out
"""

A_RANK_OF_ONE_BRANCH = """\
class Norm(nn.Module):
    def __init__(self, n, kind):
        super().__init__()
        if kind == "flat":
            self.norm = nn.BatchNorm1d(n)
        elif kind == "image":
            self.norm = nn.BatchNorm2d(n)

    def forward(self, x):
        if x.ndim == 4:
            x = np.moveaxis(x, [0, 1, 2, 3], [0, -2, -1, -3])
        x = torch.tensor(x)
        return self.norm(x)
"""

SIZES_IN_ONE_PARAMETER = """\
class Norm(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.norm = nn.LayerNorm(sizes)

    def channels_last(self):
        return np.moveaxis(self.norm.weight.detach().numpy(), [0, 1, 2], [-1, -3, -2])
"""

SEVERAL_PLACES_IN_ONE_PARAMETER = """\
class Dice(nn.Module):
    def __init__(self, count, places):
        super().__init__()
        self.count, self.places = count, places

    def forward(self, logits, target):
        B = logits.size(0)
        logits = F.softmax(logits[:, self.places], dim=1).view(B, len(self.places), -1)
        target = target.contiguous().view(B, self.count, -1)
        target = target[:, self.places, :]
        both = torch.sum(logits * target, 2)
        return both / (torch.sum(logits, 2) + torch.sum(target, 2))
"""

A_RANK_BY_WAY_OF_A_COMMENT_ON_WHAT_IS_MADE_OF_IT = """\
class Encoder(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.d = d
        self.embed, self.gru = nn.Embedding(words, d), nn.GRU(d, d, bidirectional=True)

    def forward(self, tokens):
        embedded = self.embed(tokens)  # (length, batch_size)
        out, hidden = self.gru(embedded)
        return out[:, :, : self.d] + out[:, :, self.d :], hidden


class Model(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, tokens):
        out, hidden = self.encoder(tokens)
        return out.permute(1, 0, 2), hidden
"""

A_STEP_OF_ONE = """\
class Step(nn.Module):
    def __init__(self, words, d, h):
        super().__init__()
        self.embed, self.cell = nn.Embedding(words, d), nn.LSTMCell(d + h, h)
        self.d = d

    def words(self, tokens):
        length, batch, chars = tokens.size()
        return self.embed(tokens).sum(2).view(length, batch, self.d)

    def forward(self, tokens, feed, state):
        x = self.words(tokens)
        return self.cell(torch.cat([x.squeeze(dim=0), feed], dim=1), state)
"""

A_WINDOW_BETWEEN_TWO_EDGES = """\
def attend(q, k, v, left, right):
    T = k.size(1)
    places = torch.arange(T)
    start, end = (places - left).unsqueeze(1), (places + right).unsqueeze(1)
    mask = (places.unsqueeze(0) >= start) & (places.unsqueeze(0) < end)
    scores = (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1) @ v
"""

A_VIEW_OF_ZEROS = """\
def empty_cache(B, H, T, d):
    cache = torch.zeros(B, H, T, d)
    other = cache.reshape(B, H, d, T)
    cache[:, :, 0] = 1
    return other, cache.reshape(B, H, d, T)  # <- SD601
"""

TWO_PARAMETERS_OF_ONE_NAME_IN_THE_TEXT = '''\
class Attention(nn.Module):
    def __init__(self, d_query, d_key):
        super().__init__()
        self.q, self.k = nn.Linear(d_query, d_key), nn.Linear(d_key, d_key)

    def forward(self, query, memory):
        """
        :param query: with shape [batch_size, steps, input_size]
        :param memory: with shape [batch_size, length, input_size]
        """
        return self.q(query) @ self.k(memory).transpose(1, 2)


class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.cell, self.attend = nn.GRU(d, d, batch_first=True), Attention(d, 2 * d)

    def forward(self, x, memory):
        states, _ = self.cell(x)
        return self.attend(states, memory)
'''

A_RANK_BY_WAY_OF_ANOTHER_TENSORS_COMMENT = """\
class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1, d))

    def forward(self, x):
        spread = torch.var(x, dim=-1, keepdim=True)  # (B, T)
        scaled = (x - torch.mean(x, dim=-1, keepdim=True)) / torch.sqrt(spread)  # (B, T, d)
        out = scaled * self.gain + self.gain  # (B, T, d)
        return out


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        return self.out(x.reshape(B, T, d))


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.attend = Norm(d), Attention(d)

    def forward(self, x):
        return x + self.attend(self.norm(x))
"""

A_NUMBER_OF_A_DOCSTRING = '''\
class Decoder(nn.Module):
    def __init__(self, words, d):
        super().__init__()
        self.embed, self.gru = nn.Embedding(words, d), nn.GRU(d, d, num_layers=3)

    def forward(self, word, hidden):
        """
        hidden: the state of the last step, shape = (1, B, d)
        """
        out, hidden = self.gru(self.embed(word), hidden)
        return out, hidden
'''

A_JOIN_WITH_A_SIZE_OF_A_COMMENT = """\
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn = nn.Linear(d * 2, d)

    def forward(self, hidden, states):
        # hidden: (B, d)
        # states: (T, B, d * 2)
        h = hidden.repeat(states.size(0), 1, 1).transpose(0, 1)
        states = states.transpose(0, 1)
        # states: (B, T, d * 2)
        return self.score(h, states)

    def score(self, hidden, states):
        # hidden: (B, T, d)
        # states: (B, T, d * 2)
        return F.relu(self.attn(torch.cat([hidden, states], 2)))
"""

TWO_AXES_IN_ONE_BY_A_COMMENT = """\
class Model(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.attend = attend

    def forward(self, x):
        B, C, h, w = x.shape
        y = x.view(B, C, -1).permute(0, 2, 1)
        y = self.attend(y, y, y)  # B,h*w,C
        return y.view(B, C, h, w)  # <- SD601
"""

ONE_SIZE_OR_SEVERAL = """\
class Norm(nn.Module):
    def __init__(self, layer_shape):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(layer_shape))

    def forward(self, x):
        return self.scale[: x.shape[1], :] * x


class Vector(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.map, self.scale = nn.Linear(d, d), nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.scale[: x.shape[1], :] * x  # <- SD105
"""

TWO_NAMES_FOR_THE_AXES_OF_A_SQUARE = '''\
def attend(x, mask):
    """
    x: (B, T, d)
    mask: (B, query_len, key_len)
    """
    B, T, d = x.shape
    scores = x @ x.transpose(1, 2) / d**0.5
    return F.softmax(scores.masked_fill(mask == 0, float("-inf")), dim=-1) @ x
'''

AXES_THAT_ARE_SEEN_FROM_BOTH_ENDS = """\
def decode(start, features, steps, step):
    N = features.shape[0]
    tokens = torch.LongTensor(start * np.ones(N, dtype=np.int32)).unsqueeze(1)
    for _ in range(steps):
        word = torch.argmax(step(features, tokens).view(N, -1), axis=1)
        tokens = torch.cat([tokens, word.unsqueeze(1)], dim=1)
    return tokens
"""

PROGRAMS = {
    name.lower(): text for name, text in list(globals().items()) if name.isupper() and name not in ("HEAD", "PROGRAMS")
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    findings = analyse("model.py", text, Settings()).findings
    found = [Found(f.span.line, f.code) for f in findings if f.severity != "note" and f.code != "SD701"]
    assert sorted(found) == expected(text)
