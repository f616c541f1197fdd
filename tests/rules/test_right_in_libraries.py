"""Right code as libraries write it, of kinds that were once told as wrong: nothing is found in any of it."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import math\n\nimport constants\nimport numpy as np\nimport torch\nimport torch.nn as nn\n\n\n"

RIGHT = {
    "a buffer of a shape that the constructor is given": """
class Cache(nn.Module):
    def __init__(self, keys_like, values_like):
        super().__init__()
        self.register_buffer("k", torch.zeros(keys_like))
        self.register_buffer("v", torch.zeros(values_like))

    def forward(self, places, k, v):
        n = k.size(0)
        k = self.k[:n, ...].index_copy_(-2, places, k)
        v = self.v[:n, ...].index_copy_(-2, places, v)
        return k[:, :, :5, :], v[:, :, :5, :]
""",
    "lists filled up to one length": """
def collate(batch, pad, n):
    sources, targets = [], []
    for source, target in batch:
        sources.append(source[:n] + [pad for _ in range(max(n - len(source), 0))])
        targets.append(target[:n] + [pad] * (n - len(target)))
    return torch.tensor(sources).permute(1, 0), torch.tensor(targets).permute(1, 0)
""",
    "a shortcut where both shapes are the same": """
class Block(nn.Module):
    def __init__(self, d_in, d_out, pool=1):
        super().__init__()
        self.pool = pool
        self.conv = nn.Conv1d(d_in, d_out, 3, padding=1)
        self.shortcut = nn.Conv1d(d_in, d_out, 1)

    def forward(self, x):
        y = self.conv(x)
        if x.shape == y.shape:
            y = torch.relu(y + x)
        else:
            y = torch.relu(y + self.shortcut(x))
        if self.pool != 1:
            y = nn.functional.avg_pool1d(y, kernel_size=self.pool, padding=self.pool // 2)
        return y


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(64, 64)
        self.second = Block(64, 128)

    def forward(self, x):
        return self.second(nn.functional.max_pool1d(self.first(x), 4))
""",
    "normalised over the keys, and then once more over the queries": """
class Attend(nn.Module):
    def __init__(self, d_model, over=1, again=2):
        super().__init__()
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.over = over
        self.again = again

    def forward(self, x, memory):
        scores = torch.einsum("bid,bjd->bij", self.q(x), self.k(memory)) * self.q.in_features**-0.5
        weights = scores.softmax(dim=self.over) + 1e-8
        weights = weights / weights.sum(dim=self.again, keepdim=True)
        return torch.einsum("bjd,bij->bid", memory, weights)


class BothWays(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.there = Attend(d_model)
        self.back = Attend(d_model, over=2, again=1)

    def forward(self, x, slots):
        return self.back(x, self.there(slots, x))
""",
    "a copy for each beam, of matrices and of rows": """
def for_beams(x, beams):
    batch_size, *rest = x.shape
    if len(rest) == 2:
        return x.unsqueeze(1).repeat(1, beams, 1, 1).view(batch_size * beams, *rest)
    return x.unsqueeze(1).repeat(1, beams, 1).view(batch_size * beams, *rest)


class Decoder(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.project = nn.Linear(d_h, d_h)

    def forward(self, memory):
        memory = for_beams(memory, 3)
        batch_size, T_enc, _ = memory.size()
        return self.project(memory)
""",
    "joined along the channels, by their numbers": """
class Conv(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)

    def forward(self, x):
        return self.conv(x)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.wave, self.mel, self.both = Conv(4, 64), Conv(1, 64), Conv(128, 128)

    def forward(self, wave, mel):
        wave = self.wave(wave.reshape((wave.shape[0], -1, 64, wave.shape[-1])).transpose(2, 3))
        return self.both(torch.cat((self.mel(mel), wave), dim=1))
""",
    "padding that another file numbers": """
def resampled(source, tokens):
    padding = tokens.eq(constants.PAD)
    length = (1 - padding).sum(-1)
    batch_size, T_dec = tokens.shape
    scale = source.size(1) / length.float()
    rows = []
    for i in range(batch_size):
        rows.append((torch.arange(0, T_dec).float() * scale[i].repeat(T_dec)).long())
    return torch.stack(rows)


class Model(nn.Module):
    def both(self, tokens, memory):
        batch_size, T_dec = tokens.shape
        return resampled(memory, tokens)

    def forward(self, tokens, memory):
        if isinstance(memory, list):
            memory = memory[0]
        return self.both(tokens[0], memory), self.both(tokens[1], memory)
""",
    "a mask of which a note says something else than the docstring": """
class Encoder(nn.Module):
    def __init__(self, d_in, d_model, n_heads):
        super().__init__()
        self.project = nn.Linear(d_in, d_model)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model, n_heads), 2)

    def forward(self, x, keep):
        \"\"\"
        Args:
            x: (batch_size, T_enc, d_in) features
            keep: (batch_size, T_enc) boolean, True means keep
        \"\"\"
        # torch wants [T_enc, batch_size, d_in]. keep [batch_size, d_in]
        return self.encoder(self.project(x.permute(1, 0, 2)), src_key_padding_mask=~keep)
""",
    "a docstring that describes each of a list": """
class Fusion(nn.Module):
    def __init__(self, d_h, sources):
        super().__init__()
        self.sources = sources
        self.score = nn.Linear(d_h, 1)

    def forward(self, features):
        \"\"\"
        features: [batch_size, T_enc, d_h]
        \"\"\"
        found = []
        for i in range(self.sources):
            weights = torch.softmax(self.score(features[i]).squeeze(-1), dim=-1)
            found.append(torch.bmm(weights.unsqueeze(1), features[i]).squeeze(1))
        return torch.cat(found, dim=1)
""",
    "as many scores as there are sources, here one": """
class Fusion(nn.Module):
    def __init__(self, d_h, sources):
        super().__init__()
        self.sources = len(sources)
        self.score = nn.Linear(d_h, 1)

    def forward(self, contexts):
        scores = []
        for i in range(self.sources):
            scores.append(self.score(contexts[i]))
        weights = torch.softmax(torch.cat(scores, dim=1), dim=1)
        return torch.bmm(weights.unsqueeze(1), torch.stack(contexts, dim=1)).squeeze(1)


Fusion(8, [8])([torch.randn(2, 8)])
""",
    "halves of halves, kept in lists": """
class Wavelets(nn.Module):
    def __init__(self, d_h, levels):
        super().__init__()
        self.levels = levels
        self.down = nn.Parameter(torch.randn(2 * d_h, d_h))
        self.up = nn.Parameter(torch.randn(2 * d_h, d_h))

    def mixed(self, x):
        batch_size, T, d_h = x.shape
        return x.new_zeros(batch_size, 2 * (T // 2), d_h)

    def doubled(self, x):
        batch_size, T, d_h = x.shape
        y = torch.zeros(batch_size, 2 * T, d_h // 2)
        y[:, ::2] = x @ self.up
        return y

    def halved(self, x):
        both = torch.cat([x[:, ::2, :], x[:, 1::2, :]], -1)
        return both @ self.down, both @ self.down

    def forward(self, x):
        details, kept = [], []
        for i in range(self.levels):
            detail, x = self.halved(x)
            details += [tuple([detail, x])]
        for i in range(self.levels):
            detail = details[i]
            kept += [self.mixed(detail[0]) + self.mixed(detail[1])]
        x = self.mixed(x)
        for i in range(self.levels - 1, -1, -1):
            x = x + kept[i]
            x = self.doubled(torch.cat((x, kept[i]), -1))
        return x
""",
    "a batch of one, put in and taken away": """
class Prosody(nn.Module):
    def __init__(self, d_model, convolutions):
        super().__init__()
        self.convolutions = convolutions
        self.gru = nn.GRU(d_model, d_model, bidirectional=True, batch_first=True)

    def one(self, x):
        x = self.convolutions(x.unsqueeze(-1)).squeeze(-1)
        _, h_n = self.gru(x)
        return torch.cat((h_n[0], h_n[1]), dim=-1)

    def forward(self, frames, durations):
        batch = []
        for x, duration in zip(frames, durations):
            found = []
            for part in torch.split(x, list(duration.int()), dim=0):
                found.append(self.one(part.unsqueeze(0)).squeeze(0))
            batch.append(torch.stack(found, dim=0))
        return batch
""",
    "a comment beside a transpose that speaks of what comes of it": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(26, 128)

    def forward(self, x):
        y = x.transpose(0, 1)  # x : [n_step, batch_size, n_class]
        hidden = torch.zeros(1, len(x), 128)  # [layers * directions, batch_size, n_hidden]
        outputs, _ = self.lstm(y, (hidden, torch.zeros(1, len(x), 128)))
        return outputs[-1]


def rows(words):
    found = []
    for word in words:
        found.append(np.eye(26)[[n for n in word[:-1]]])
    return found


Model()(torch.FloatTensor(rows(["make", "need", "coal", "word", "love", "hate", "live", "home", "hash", "star"])))
""",
    "a mask of numbers that is filled on both sides": """
class Decoder(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.pad = pad

    def forward(self, tokens):
        padding = (tokens == self.pad).float().masked_fill(tokens == self.pad, float("-inf"))
        return padding.masked_fill(tokens != self.pad, float(0.0))
""",
    "a size of the name of an attribute that is none": """
class Augment(nn.Module):
    def __init__(self, widest=27):
        super().__init__()
        self.F = widest

    def forward(self, x):
        \"\"\"x : (B, T, F)\"\"\"
        if not self.training:
            return x
        B, T, F = x.shape
        x = x.clone()
        f = torch.randint(0, self.F, (1,)).item()
        x[:, :, f : f + 2] = 0.0
        return x


class Encoder(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.augment = Augment()
        self.conv = nn.Sequential(nn.Conv2d(1, d_model, 3, 2), nn.ReLU(), nn.Conv2d(d_model, d_model, 3, 2))
        self.project = nn.Linear(d_model * 19, d_model)

    def forward(self, x):
        \"\"\"x : (batch, time, 80)\"\"\"
        x = self.conv(self.augment(x).unsqueeze(1))
        B, C, T, F = x.shape
        return self.project(x.permute(0, 2, 1, 3).contiguous().view(B, T, C * F))


Encoder(144)(torch.randn(2, 40, 80))
""",
    "a method of the name of a tensor's": """
def best(params, lengths):
    trees = constants.Trees(params, lengths)
    _, _, _, spans = trees.topk(4)
    return spans
""",
    "points of a plot": """
def show(figure, truth, found):
    axes = figure.subplots(2)
    ratio = truth // 2 / found
    axes[1].scatter(range(len(ratio)), ratio)
""",
    "what a reshape makes, said above the line that takes the state apart": """
def decode(memory, state):
    # Bring hidden and cell into the right shape
    # hidden has size (batch_size, d_h) to (1, batch_size, d_h)
    hidden, cell = state
    hidden = hidden.unsqueeze(0)
    cell = cell.unsqueeze(0)
    return hidden, cell


decode(torch.randn(2, 5, 8), (torch.randn(2, 8), torch.randn(2, 8)))
""",
    "a mask too many where nothing attends": """
class Sampler(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def scores(self, tokens):
        return torch.softmax(self.model(tokens), -1)

    def forward(self, tokens):
        real = tokens.ne(constants.PAD)
        chances = self.scores(tokens)
        chances[tokens.eq(constants.PAD)] = 1.0
        return chances
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
