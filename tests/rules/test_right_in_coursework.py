"""Right code as courses have it written: beams, readers, gradients, of kinds once told as wrong."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = (
    "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n"
    "from kernels import windows_of\n\n\n"
)

RIGHT = {
    "SD107: one example is decoded, and copied once for every hypothesis": """
class Search(nn.Module):
    def __init__(self, d_in, d_h):
        super().__init__()
        self.embed = nn.Embedding(100, d_in)
        self.lstm = nn.LSTM(d_in, d_h, batch_first=True)
        self.cell = nn.LSTMCell(d_in, d_h)
        self.key, self.query, self.v = nn.Linear(d_h, d_h), nn.Linear(d_h, d_h), nn.Linear(d_h, 1)

    def forward(self, tokens, width):
        memory, (h, c) = self.lstm(self.embed(tokens))
        batch = tokens.size(0)
        beams = [([1], h[-1], c[-1]) for _ in range(batch)]
        for step in range(20):
            word = self.embed(torch.tensor([words[-1] for words, _, _ in beams]))
            h = torch.cat([h for _, h, _ in beams], dim=0)
            c = torch.cat([c for _, _, c in beams], dim=0)
            memories = torch.cat([memory for _ in beams], dim=0)
            h, c = self.cell(word, (h, c))
            scores = self.v(torch.tanh(self.key(memories) + self.query(h).unsqueeze(1))).squeeze(-1)
            beams = self.best(beams, scores, h, c, width)
        return beams

    def best(self, beams, scores, h, c, width):
        found = []
        for i, (words, _, _) in enumerate(beams):
            for k in range(width):
                found.append((words + [k], h[i : i + 1], c[i : i + 1]))
        return found[:width]
""",
    "SD201, SD304: a comment on a mask that its sum, taken for lengths, speaks against": """
def masked_softmax(logits, mask, dim=-1):
    mask = mask.type(torch.float32)
    return F.softmax(mask * logits + (1 - mask) * -1e30, dim)


class Encoder(nn.Module):
    def __init__(self, d, d_h):
        super().__init__()
        self.rnn = nn.LSTM(d, d_h, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        lengths, order = lengths.sort(0, descending=True)
        packed = pack_padded_sequence(x[order], lengths.cpu(), batch_first=True)
        states, _ = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        _, back = order.sort(0)
        return states[back]


class Pointer(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.start, self.end = nn.Linear(2 * d_h, 1), nn.Linear(2 * d_h, 1)
        self.encoder = Encoder(2 * d_h, d_h)

    def forward(self, states, mask):
        # states: (batch_size, seq_len, 2h)
        # mask: (batch_size, seq_len, 1)
        start = self.start(states)
        end = self.end(self.encoder(states, mask.sum(-1)))
        return masked_softmax(start.squeeze(2), mask), masked_softmax(end.squeeze(2), mask)
""",
    "SD102, SD201: a mask of queries and keys that have two names, and here are one sequence": """
class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attend = Attend(cfg)

    def forward(self, x, attention_mask=None, source=None):
        '''
        Args:
            tokens: (N, L, D)
            attention_mask: (N, Lq, L)
        '''
        if source is not None:
            return self.attend(x, source, source, attention_mask)
        return self.attend(x, x, x, attention_mask)


class Attend(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads, self.width = cfg.heads, cfg.size // cfg.heads
        self.query, self.key, self.value = (nn.Linear(cfg.size, cfg.size) for _ in range(3))

    def split(self, x):
        shape = x.size()[:-1] + (self.heads, self.width)
        return x.view(*shape).permute(0, 2, 1, 3)

    def forward(self, query, key, value, attention_mask=None):
        '''
        Args:
            query: (N, Lq, D)
            key: (N, L, D)
            value: (N, L, D)
            attention_mask: (N, Lq, L)
        '''
        if attention_mask is not None:
            attention_mask = (1 - attention_mask.unsqueeze(1)) * -10000.0
        q, k, v = self.split(self.query(query)), self.split(self.key(key)), self.split(self.value(value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.width)
        if attention_mask is not None:
            scores = scores + attention_mask
        return torch.matmul(torch.softmax(scores, dim=-1), v).permute(0, 2, 1, 3)
""",
    "SD111, SD105: an array of arrays: an element of its one axis has axes of its own": """
def last_frames(x, m):
    spectra = x
    assert spectra.ndim == 1
    for utter in spectra:
        assert utter.ndim == 2
    n, k = spectra.shape[0], spectra[0].shape[1]
    result = np.zeros((n, m, k))
    longest = max([utter.shape[0] for utter in spectra])
    for i, utter in enumerate(spectra):
        result[i] = utter[-m:]
    return result, longest
""",
    "SD101: a helper's comment that says `in_channels` of whatever it is given": """
class Conv:
    def __init__(self, in_channels, out_channels, width):
        self.in_channels, self.out_channels, self.width = in_channels, out_channels, width
        self.W = np.random.normal(0, 1.0, (out_channels, in_channels, width, width))

    def convolve(self, input, filters):
        '''
        Argument:
            input (np.array): (batch_size, in_channels, height, width)
            filters (np.array): (out_channels, in_channels, kernel_size, kernel_size)
        '''
        windows = windows_of(input, filters)  # Shape (batch_size, in_channels, out_height, out_width, kernel_size, kernel_size)
        return np.tensordot(windows, filters, axes=((1, 4, 5), (1, 2, 3)))

    def forward(self, A):
        '''
        Argument:
            A (np.array): (batch_size, in_channels, height, width)
        '''
        return self.convolve(A, self.W)

    def backward(self, dLdZ):
        '''
        Argument:
            dLdZ (np.array): (batch_size, out_channels, height, width)
        '''
        padded = np.pad(dLdZ, ((0, 0), (0, 0), (1, 1), (1, 1)))
        return self.convolve(padded, np.transpose(self.W[:, :, ::-1, ::-1], axes=(1, 0, 2, 3)))
""",
    "SD102: asserts on sizes that an object holds, of an odd one and its half": """
def conv_bn(d_in, d_out, kernel_size=3, padding=1):
    layers = nn.Sequential()
    layers.add_module("conv", nn.Conv2d(d_in, d_out, kernel_size=kernel_size, padding=padding))
    layers.add_module("bn", nn.BatchNorm2d(d_out))
    return layers


class Block(nn.Module):
    def __init__(self, d_in, d_out, kernel_size=3):
        super().__init__()
        self.kernel_size = kernel_size
        self.padding = kernel_size // 2
        assert self.kernel_size == 3
        assert self.padding == 1
        self.wide = conv_bn(d_in, d_out, kernel_size=self.kernel_size, padding=self.padding)
        self.narrow = conv_bn(d_in, d_out, kernel_size=1, padding=0)

    def forward(self, x):
        return self.narrow(x) + self.wide(x)
""",
    "SD701: an arrow that begins with what a line makes, and is carried out further down": """
def reference(q, k, v, g, sinks=None):
    B, T, HQ, D = q.shape
    H = k.shape[2]
    G = HQ // H
    q = q.reshape(B, T, H, G, D)
    scores = torch.einsum("bqhgd,bkhd->bhgqk", q, k) * D**-0.5
    # highest: [B, H, G, T] -> [B, T, HQ]
    highest = scores.max(dim=-1).values
    if sinks is not None:
        highest = torch.maximum(highest, sinks.reshape(H, G)[None, :, :, None])
    output = torch.einsum("bhgqk,bkhd->bqhgd", torch.softmax(scores, dim=-1), v).reshape(B, T, HQ, D)
    return output, highest.permute(0, 3, 1, 2).reshape(B, T, HQ)
""",
    "SD601, SD201: with a state there is one step, and it is taken": """
class Mixer(nn.Module):
    def __init__(self, n_heads, n_groups, d_head, d_state):
        super().__init__()
        self.n_heads, self.n_groups, self.d_head, self.d_state = n_heads, n_groups, d_head, d_state
        self.decay = nn.Parameter(torch.ones(n_heads))

    def forward(self, x, dt, B, state=None):
        batch_size, T, width = x.shape
        B = B.view(batch_size, T, self.n_groups * self.d_state)
        dt = dt.view(batch_size, T, self.n_heads)
        if state is not None:
            dt = dt[:, 0, :][:, None, ...].transpose(1, 2).expand(batch_size, self.n_heads, self.d_head)
            decay = self.decay[..., None, None].expand(self.n_heads, self.d_head, self.d_state)
            kept = torch.exp(dt[..., None] * decay)
            B = B.reshape(batch_size, self.n_groups, -1)[..., None, :]
            B = B.expand(batch_size, self.n_groups, self.n_heads // self.n_groups, B.shape[-1]).contiguous()
            B = B.reshape(batch_size, -1, B.shape[-1])
            put = dt[..., None] * B[..., None, :] * x.reshape(batch_size, -1, self.d_head)[..., None]
            return state * kept + put
        return x, dt, B
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
