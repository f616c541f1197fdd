"""Right code of forecasting, sparse attention and what stands beside it, of kinds that were once told as wrong."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = (
    "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "import einx\nfrom einops import rearrange\n\n\n"
)

RIGHT = {
    "a series that is standardised and set back": """
class Standardised(nn.Module):
    def __init__(self, n_series):
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(n_series)), nn.Parameter(torch.zeros(n_series))

    def forward(self, x, mode):
        if mode == "there":
            self.mean = x.mean(1, keepdim=True)
            self.std = x.std(1, keepdim=True).clamp(1e-5)
            return (x - self.mean) / self.std * self.gain + self.bias
        return (x - self.bias) / self.gain * self.std + self.mean


class Forecast(nn.Module):
    def __init__(self, n_steps, n_series):
        super().__init__()
        self.scale, self.map = Standardised(n_series), nn.Linear(n_steps, n_steps)

    def forward(self, x):
        B, n_steps, n_series = x.shape
        x = self.scale(x, "there")
        return self.scale(self.map(x.transpose(1, 2)).transpose(1, 2), "back")
""",
    "a series that is set back where it was standardised": """
class Forecast(nn.Module):
    def __init__(self, n_steps, n_series):
        super().__init__()
        self.gain, self.map = nn.Parameter(torch.ones(n_series)), nn.Linear(n_steps, n_steps)

    def forward(self, x):
        B, n_steps, n_series = x.shape
        mean, std = x.mean(1, keepdim=True), x.std(1, keepdim=True) + 1e-5
        out = self.map(((x - mean) / std * self.gain).transpose(1, 2)).transpose(1, 2)
        return out * std + mean
""",
    "an array of what draws": """
def draw(X, y, ax=None):
    if not ax:
        fig, ax = plt.subplots(1, 1)
    ax.scatter(X, y, marker="x", label="data")
    ax.set_title("data")
    ax.legend()


def show(X, y):
    fig = plt.figure(figsize=(8, 6))
    ax = np.array([fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2)])
    draw(X, y, ax=ax[0])
    ax[1].set_title("cost")
    return ax[1].scatter(200, -100, s=100)
""",
    "one length for queries and values, by an assert": """
class Masked(nn.Module):
    def __init__(self, masked=True):
        super().__init__()
        self.masked = masked

    def scores(self, q, k):
        B, H, L_K, E = k.shape
        _, _, L_Q, _ = q.shape
        wide = k.unsqueeze(-3).expand(B, H, L_Q, L_K, E)
        return torch.matmul(q, k.transpose(-2, -1)), wide

    def start(self, v, L_Q):
        B, H, L_V, D = v.shape
        if not self.masked:
            return v.mean(dim=-2).unsqueeze(-2).expand(B, H, L_Q, D).clone()
        assert L_Q == L_V
        return v.cumsum(dim=-2)

    def forward(self, q, k, v):
        B, H, L_Q, D = q.shape
        scores, _ = self.scores(q, k)
        context = self.start(v, L_Q)
        attn = torch.softmax(scores, dim=-1)
        return context + torch.matmul(attn, v)
""",
    "axes that an option mixes": """
class Attend(nn.Module):
    def __init__(self, d_model, n_heads, d_keys=None, mix=True):
        super().__init__()
        d_keys = d_keys or (d_model // n_heads)
        self.query, self.key, self.value = (nn.Linear(d_model, d_keys * n_heads) for _ in range(3))
        self.out = nn.Linear(d_keys * n_heads, d_model)
        self.n_heads, self.mix = n_heads, mix

    def forward(self, x, memory):
        B, L, _ = x.shape
        _, S, _ = memory.shape
        H = self.n_heads
        q = self.query(x).view(B, L, H, -1)
        k = self.key(memory).view(B, S, H, -1)
        v = self.value(memory).view(B, S, H, -1)
        scores = torch.einsum("blhe,bshe->bhls", q, k) / q.shape[-1] ** 0.5
        out = torch.einsum("bhls,bshd->blhd", torch.softmax(scores, dim=-1), v)
        if self.mix:
            out = out.transpose(2, 1).contiguous()
        return self.out(out.view(B, L, -1))
""",
    "a weight that is turned where it lies": """
class Low(nn.Module):
    def __init__(self, weight, bias=None, r: int = 0, turned: bool = False):
        super().__init__()
        self.weight, self.bias, self.r, self.turned = weight, bias, r, turned
        n_out, n_in = weight.shape
        self.a = nn.Parameter(weight.new_zeros((r, n_in)))
        self.b = nn.Parameter(weight.new_zeros((n_out, r)))
        if turned:
            self.weight.data = self.weight.data.T

    def forward(self, x):
        def T(w):
            return w.T if self.turned else w

        return F.linear(x, T(self.weight), self.bias) + x @ self.a.t() @ self.b.t()
""",
    "an assert that ends a branch": """
class Waves(nn.Module):
    def __init__(self, n_mics=1):
        super().__init__()
        self.n_mics = n_mics

    def forward(self, input: torch.Tensor):
        \"\"\"
        Args:
            input (torch.Tensor): sound of M microphones, N samples [B, N, M]
        \"\"\"
        if self.n_mics == 1:
            assert len(input.shape) == 2
            input = input[..., None]  # [B, N, M]
        std = torch.std(input, dim=(1, 2), keepdim=True)  # [B, 1, 1]
        return input / std
""",
    "an assert that a default does not pass": """
class Smooth(nn.Module):
    def __init__(self, size, stride):
        super().__init__()
        assert len(size) == 3
        self.size = np.array(size)
        front, end = self.size - 1, self.size // 2
        self.pad = np.stack([front, end], 1)[::-1].flatten().astype("int").tolist()


class Layer(nn.Module):
    def __init__(self, d_model, size=25):
        super().__init__()
        self.smooth = Smooth(size, stride=1)
""",
    "what a test asks of a size, and what is not known": """
class Norm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, input):
        if input.dim() != 4:
            raise ValueError("expected four axes")
        if input.shape[-2] == 1:
            return input
        return normalised(input, self.weight, self.bias)


class Block(nn.Module):
    def __init__(self, channels, norm_layer=Norm):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, kernel_size=1)
        self.norm1 = norm_layer(channels)
        self.conv2 = nn.Conv2d(channels, channels, kernel_size=3)

    def forward(self, x):
        return self.conv2(torch.relu(self.norm1(self.conv1(x))))
""",
    "a name that one branch uses before it sets it": """
def pick(flag, other, x):
    if flag:
        if other:
            y = x + 1
        else:
            y = y + 1
            z = z + y
    return x
""",
    "results of which one way gives more": """
class Attend(nn.Module):
    def __init__(self, d, n_heads, full):
        super().__init__()
        self.n_heads, self.d_head, self.full = n_heads, d // n_heads, full
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, q, k, v, before=None):
        B = q.size(0)
        q = self.query(q).view(B, -1, self.n_heads, self.d_head)
        k, v = (f(x).view(B, -1, self.n_heads, self.d_head) for f, x in ((self.key, k), (self.value, v)))
        scores = torch.einsum("bphd,bshd->bphs", q, k) / self.d_head**0.5
        if before is not None:
            scores = scores + before
        weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bphs,bshd->bphd", weights, v).contiguous().view(B, -1, self.n_heads * self.d_head)
        if self.full:
            return out, weights, scores
        else:
            return out, weights


class Layer(nn.Module):
    def __init__(self, d, n_heads, full):
        super().__init__()
        self.attend, self.full, self.norm = Attend(d, n_heads, full), full, nn.LayerNorm(d)

    def forward(self, memory, x, before=None):
        B, p, d = x.shape
        if self.full:
            made, weights, scores = self.attend(x, memory, memory, before)
        else:
            made, weights = self.attend(x, memory, memory)
        return self.norm(x + made)
""",
    "a scaled query that is padded": """
class Frames(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64):
        super().__init__()
        self.heads, self.scale = heads, dim_head**-0.5
        self.to_q = nn.Linear(dim, heads * dim_head, bias=False)
        self.to_kv = nn.Linear(dim, 2 * heads * dim_head, bias=False)

    def forward(self, x, context):
        h = self.heads
        q, k, v = (self.to_q(x), *self.to_kv(context).chunk(2, dim=-1))
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=h) for t in (q, k, v))
        q = q * self.scale
        first, q = q[:, :, 0], q[:, :, 1:]
        at_first = torch.einsum("b h d, b h j d -> b h j", first, k).softmax(dim=-1)
        begin = torch.einsum("b h j, b h j d -> b h d", at_first, v)
        q = F.pad(q, (0, 0, 0, missing(q.shape[-2], 16)), value=0.0)
        q = rearrange(q, "b h (f i) d -> b h f i d", i=16)
        k, v = (rearrange(t, "b h (i j) d -> b h i j d", i=16) for t in (k, v))
        attn = torch.einsum("b h f i d, b h i j d -> b h f i j", q, k).softmax(dim=-1)
        return begin, torch.einsum("b h f i j, b h i j d -> b h f i d", attn, v)
""",
    "a width that is 0 unless it is given": """
class Decode(nn.Module):
    def __init__(self, d, extra_dim: int = 0):
        super().__init__()
        self.cell = nn.LSTMCell(d + extra_dim, d)

    def forward(self, x, state, extra=None):
        parts = [x]
        if extra is not None:
            parts.append(extra)
        return self.cell(torch.concat(parts, -1), state)


class Model(nn.Module):
    def __init__(self, n, d, controls: bool = False, controls_dim: int = 0):
        super().__init__()
        self.controls = controls
        self.embed = nn.Embedding(n, d)
        self.decode = Decode(d, extra_dim=controls_dim)

    def forward(self, tokens, state, controls=None):
        args, extra = {}, []
        if self.controls and controls is not None:
            extra.append(controls)
        args["extra"] = None
        if len(extra):
            args["extra"] = torch.concat(extra, dim=-1)
        return self.decode(x=self.embed(tokens), state=state, **args)
""",
    "beams of several sentences, gathered in every step": """
class Beams:
    def __init__(self, hidden, size=5):
        self.size, self.hidden, self.before = size, hidden, None
        self.words = [torch.zeros(size, dtype=torch.long)]

    def get(self):
        return self.words[-1].unsqueeze(-1), self.hidden, self.before

    def put(self, scores, hidden, before):
        best, index = scores.view(-1).topk(self.size)
        self.words.append(index % scores.size(-1))
        self.hidden = hidden.index_select(1, index // scores.size(-1))
        self.before = before.index_select(0, index // scores.size(-1))


class Search(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(n, d), nn.GRU(2 * d, d, batch_first=True), nn.Linear(d, n)

    def forward(self, h_0, count):
        all_beams = [Beams(h_0[:, i].unsqueeze(1).repeat(1, 5, 1)) for i in range(h_0.size(1))]
        for _ in range(count):
            words, states, cells, before = [], [], [], []
            for beams in all_beams:
                y, hidden, last = beams.get()
                words += [y]
                states += [hidden]
                cells += [hidden]
                if last is not None:
                    before += [last]
                else:
                    before = None
            words = torch.cat(words, dim=0)
            states = torch.cat(states, dim=1)
            cells = torch.cat(cells, dim=1)
            x = self.embed(words)
            before = torch.cat(before, dim=0) if before is not None else torch.zeros_like(x)
            out, states = self.rnn(torch.cat([x, before], dim=-1), states + cells)
            for i, beams in enumerate(all_beams):
                rows = slice(5 * i, 5 * (i + 1))
                beams.put(self.out(out[rows]), states[:, rows], out[rows])
        return all_beams
""",
    "directions that a comment has, and nothing else": """
class Score(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.out = nn.Linear(dim * 2, dim)

    def forward(self, output, context):
        # (batch, out_len, dim) * (batch, in_len, dim) -> (batch, out_len, in_len)
        weights = F.softmax(torch.bmm(output, context.transpose(1, 2)), dim=-1)
        return torch.tanh(self.out(torch.cat((torch.bmm(weights, context), output), dim=2)))


class Decoder(nn.Module):
    r\"\"\"
    Inputs: inputs, encoder_outputs
        - **encoder_outputs** (batch, seq_len, hidden_size): outputs of the encoder
    \"\"\"

    def __init__(self, cell, n, hidden_size):
        super().__init__()
        self.rnn = cell(hidden_size, hidden_size, batch_first=True)
        self.embed, self.score = nn.Embedding(n, hidden_size), Score(hidden_size)

    def forward(self, inputs, hidden, encoder_outputs):
        output, hidden = self.rnn(self.embed(inputs), hidden)  # output: (batch, seq_len, hidden_size*num_directions)
        return self.score(output, encoder_outputs), hidden
""",
    "a product by a pattern": """
class Gated(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.gate, self.value, self.heads = nn.Linear(d, heads), nn.Linear(d, d), heads

    def forward(self, x):
        b, n, _ = x.shape
        out = self.value(x).view(b, n, self.heads, -1).transpose(1, 2)
        gate = self.gate(x)
        return einx.multiply("b n h, b h n d -> b h n d", gate.sigmoid(), out)
""",
    "an arrow above the step that it is of": """
class Located(nn.Module):
    def __init__(self, att_dim, chans, filts):
        super().__init__()
        self.map = nn.Linear(chans, att_dim, bias=False)
        self.conv = nn.Conv2d(1, chans, (1, 2 * filts + 1), padding=(0, filts), bias=False)
        self.score = nn.Linear(att_dim, 1)

    def forward(self, memory, query, before):
        batch = len(memory)
        if before is None:
            before = [torch.ones(batch, memory.size(1))]
        seen = sum(before)
        # seen: utt x frame

        found = self.conv(seen.view(batch, 1, 1, memory.size(1)))
        # found: utt x chans x 1 x frame -> utt x frame x chans
        found = found.squeeze(2).transpose(1, 2)
        # found: utt x frame x chans -> utt x frame x att_dim
        found = self.map(found)
        return self.score(torch.tanh(found + memory + query)).squeeze(2)
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []


def test_what_does_not_fit_into_rows_is_told_of_itself_and_not_of_their_indices() -> None:
    text = """
def put(x):
    B, H, L, S = x.shape
    weights = torch.softmax(x, dim=-1)
    index = weights.max(-1)[0].topk(5, sorted=False)[1]
    few = weights[torch.arange(B)[:, None, None], torch.arange(H)[None, :, None], index, :]
    whole = torch.ones([B, H, L, L])
    whole[torch.arange(B)[:, None, None], torch.arange(H)[None, :, None], index, :] = few
    return whole
"""
    found = analyse("model.py", HEAD + text.lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.tensor) for f in found if f.severity != "note"] == [("SD102", "few")]
