"""Right code as repositories have it that nobody had looked at: nothing is found in any of it."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import functools\nimport math\n\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"

RIGHT = {
    "what a decorator puts in a function's place": """
def routed(f_torch):
    def wrap(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            args, kwargs = f(*args, **kwargs)
            return f_torch(args, **kwargs)
        return inner
    return wrap


def scale_down(points, rounds=3):
    u, s, v = torch.linalg.svd(points)
    return u[..., :3].transpose(-1, -2), s


@routed(scale_down)
def scaling(points, **kwargs):
    return points, kwargs


def test_scaling():
    points = torch.randn(2, 48, 48)
    coords, _ = scaling(points, rounds=5)
    assert list(coords.shape) == [2, 3, 48]
""",
    "buffers that an operation fills": """
class Search:
    def __init__(self, n_groups):
        self.n_groups = n_groups
        self.penalty = None
        self.scores_buf = None

    def step(self, log_probs):
        batch_size, beam_size, n_words = log_probs.size()
        if self.penalty is None:
            self.penalty = log_probs.new()
            self.scores_buf = log_probs.new()
            self.words_buf = torch.LongTensor().to(device=log_probs.device)
        torch.zeros(log_probs[:, 0, :].size(), out=self.penalty)
        taken = []
        for g in range(self.n_groups):
            torch.topk(log_probs[:, g].unsqueeze(1).view(batch_size, -1), k=2, out=(self.scores_buf, self.words_buf))
            self.penalty.scatter_add_(1, self.words_buf, self.penalty.new_ones(self.words_buf.size()))
            taken.append(self.words_buf.clone())
        self.words_buf = torch.stack(taken, dim=2, out=self.words_buf).view(batch_size, -1)
        return self.words_buf
""",
    "as many sizes as are passed": """
def causal_mask(*shape: int, device: torch.device = None) -> torch.Tensor:
    return torch.tril(torch.ones(shape, dtype=torch.bool, device=device))
""",
    "keys that are kept transposed": """
class Attention(nn.Module):
    def __init__(self, n_state, n_head):
        super().__init__()
        self.n_head, self.split_size = n_head, n_state
        self.c_attn = nn.Linear(n_state, 3 * n_state)

    def split_heads(self, x, k=False):
        new_shape = x.size()[:-1] + (self.n_head, x.size(-1) // self.n_head)
        x = x.view(*new_shape)
        if k:
            return x.permute(0, 2, 3, 1)
        else:
            return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, layer_past=None):
        query, key, value = self.c_attn(hidden_states).split(self.split_size, dim=2)
        query = self.split_heads(query)
        key = self.split_heads(key, k=True)
        value = self.split_heads(value)
        if layer_past is not None:
            past_key, past_value = layer_past[0].transpose(-2, -1), layer_past[1]
            key = torch.cat((past_key, key), dim=-1)
            value = torch.cat((past_value, value), dim=-2)
        weights = torch.softmax(torch.matmul(query, key), dim=-1)
        return torch.matmul(weights, value)
""",
    "the shape of what has been turned": """
from torch.utils.data import DataLoader

from elsewhere import load_model


@torch.inference_mode()
def losses(loader, config, weight, max_length):
    model = load_model(config, weight, torch.bfloat16)[0]
    totals, counts = torch.zeros(max_length), torch.zeros(max_length, dtype=torch.long)
    for batch in loader:
        batch = {k: v.to("cuda") for k, v in batch.items()}
        labels = batch["labels"]
        logits = model(inp=batch["inputs"]).codebook_logits
        targets = labels[:, 1 : 1 + model.config.n_codebooks].mT
        loss = F.cross_entropy(
            logits.reshape(-1, logits.size(-1)), targets.reshape(-1), ignore_index=-100, reduction="none"
        )
        loss = loss.reshape(targets.shape)
        per_frame = loss.mean(-1)
        padded = targets.sum(-1) == -100 * model.config.n_codebooks
        for sample, pad in zip(per_frame, padded):
            totals[~pad] += sample[~pad]
            counts[~pad] += 1
    return totals / counts
""",
    "shares of learned codes": """
class Encoding(nn.Module):
    def __init__(self, channels, n_codes=32):
        super().__init__()
        self.codes = nn.Parameter(torch.rand(n_codes, channels))
        self.scales = nn.Parameter(torch.rand(n_codes))
        self.stem = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        B, D, _, _ = x.shape
        y = self.stem(x).view(B, D, -1).transpose(1, 2).contiguous()
        d = y[:, :, None, :] - self.codes[None, None, :, :]
        shares = (self.scales[None, None, :] * d.pow(2).sum(-1)).softmax(-1)
        return torch.einsum("bnkd,bnk->bkd", d, shares)
""",
    "a squeeze before all are taken together": """
class Decoder(nn.Module):
    def __init__(self, n_words, d_model, end):
        super().__init__()
        self.embed = nn.Embedding(n_words, d_model)
        self.gru = nn.GRU(d_model, d_model, batch_first=True)
        self.out = nn.Linear(d_model, n_words)
        self.end = end

    def forward(self, words, max_length):
        batch_size, seq_len = words.shape
        for _ in range(max_length):
            logits = self.out(self.gru(self.embed(words))[0])[:, -1]
            word = logits.argmax(dim=-1, keepdim=True)
            words = torch.cat([words, word], dim=1)
            if torch.all(word.squeeze() == self.end):
                break
        return words
""",
    "masks that are weighted": """
class Patterns(nn.Module):
    def __init__(self, patterns, n_heads=8):
        super().__init__()
        self.patterns = patterns
        self.n_heads = n_heads
        self.votes = nn.Parameter(torch.ones(len(patterns), n_heads))

    def combined(self, seq_len):
        masks = []
        for pattern in self.patterns:
            mask = torch.arange(seq_len)[:, None] >= torch.arange(seq_len)[None, :]
            masks.append(mask.unsqueeze(0).expand(self.n_heads, -1, -1).float())
        masks = torch.stack(masks, dim=0)
        weights = F.softmax(self.votes, dim=0).view(-1, self.n_heads, 1, 1)
        return (masks * weights).sum(dim=0) > 0.5
""",
    "a way round where the sizes are equal": """
class Branches(nn.Module):
    def __init__(self, in_channels, out_channels, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, stride, 1)
        self.skip = None
        if stride == 1 and in_channels == out_channels:
            self.skip = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        y = self.conv(x)
        if self.skip is not None:
            y = y + self.skip(x)
        return y


class Ghost(nn.Module):
    def __init__(self, in_channels, out_channels, ratio=2):
        super().__init__()
        plain = out_channels // ratio
        self.first = Branches(in_channels, plain)
        self.second = Branches(plain, out_channels - plain)

    def forward(self, x):
        y = self.first(x)
        return torch.cat([y, self.second(y)], 1)


class Bottleneck(nn.Module):
    def __init__(self, in_channels, out_channels, width=1):
        super().__init__()
        self.conv = nn.Sequential(Ghost(in_channels, width), nn.BatchNorm2d(width), nn.ReLU())
        self.head = Ghost(width, out_channels)

    def forward(self, x):
        return self.head(self.conv(x))
""",
    "a width of 1 that no caller leaves": """
from torchvision.ops import Conv2dNormActivation


class Branches(nn.Module):
    def __init__(self, in_channels, out_channels, stride=1):
        super().__init__()
        self.conv = Conv2dNormActivation(in_channels, out_channels, 3, stride)
        self.skip = None
        if stride == 1 and in_channels == out_channels:
            self.skip = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        y = self.conv(x)
        if self.skip is not None:
            y = y + self.skip(x)
        return y


class Ghost(nn.Module):
    def __init__(self, in_channels, out_channels, ratio=2):
        super().__init__()
        plain = out_channels // ratio
        self.first = Branches(in_channels, plain)
        self.second = Branches(plain, out_channels - plain)

    def forward(self, x):
        y = self.first(x)
        return torch.cat([y, self.second(y)], 1)


class Bottleneck(nn.Module):
    def __init__(self, in_channels, out_channels, ratio=2, width=1):
        super().__init__()
        self.conv = nn.Sequential(Ghost(in_channels, width, ratio=ratio), nn.BatchNorm2d(width), nn.ReLU())
        self.head = nn.Sequential(Ghost(width, out_channels, ratio=ratio), nn.BatchNorm2d(out_channels))

    def forward(self, x):
        return self.head(self.conv(x))
""",
    "the first steps of a data set": """
def total(samples, count, size):
    loss = 0
    steps = int(count / size)
    for sample in samples.take(steps):
        loss += np.sum(sample[0]["x"])
    return loss


def train(samples, size):
    return total(samples.batch(size), 3000, 4)
""",
    "what a squeeze of everything leaves, by its comment": """
class Sound(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, d)

    def forward(self, wave):
        '''
        wave: (T, B, d)
        Returns: (T, B, d)
        '''
        return self.proj(wave)


def one(wave, d):
    sound = Sound(d)
    spectrum = sound(wave).squeeze()  # (T, d)
    return torch.relu(spectrum)
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
