"""Faults that people have reported of public attention code: each program, and what made it right."""

from __future__ import annotations

import pytest

from tests.rules.expectations import all_found, expected, mended

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"

# A program with the line at fault marked, and the lines that are otherwise in the right one.
REPORTED = {
    "one score a row, normalised by itself": (
        """\
class Tagger(nn.Module):
    def __init__(self, words, width, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, hidden, bidirectional=True)
        self.attn = nn.Linear(width + 2 * hidden, 1)
        self.out = nn.Linear(2 * hidden, classes)

    def forward(self, text):
        x = self.embed(text)
        steps, batch, width = x.size()
        outputs, _ = self.rnn(x)
        x = x.view(-1, width)
        outputs = outputs.view(steps * batch, -1)
        weights = F.softmax(self.attn(torch.cat((x, outputs), 1)), dim=1)  # <- SD402
        mixed = (weights.view(steps, batch, 1) * outputs.view(steps, batch, -1)).sum(0)
        return self.out(mixed)
""",
        (
            (
                "        weights = F.softmax(self.attn(torch.cat((x, outputs), 1)), dim=1)  # <- SD402",
                "        weights = F.softmax(self.attn(torch.cat((x, outputs), 1)).view(steps, batch), dim=0)",
            ),
        ),
    ),
    "heads merged without a permutation": (
        """\
class ManyHeads(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        assert hidden % heads == 0
        self.per_head = hidden // heads
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * heads * self.per_head, bias=False)
        self.out = nn.Linear(heads * self.per_head, hidden, bias=False)

    def forward(self, x, mask=None):
        n, length, hidden = x.size()
        qkv = self.qkv(x).reshape(n, length, self.heads, 3 * self.per_head)
        qkv = qkv.permute(0, 2, 1, 3)
        q, k, v = qkv.chunk(3, dim=-1)
        values, weights = self.attend(q, k, v, mask)
        values = values.reshape(n, length, hidden)  # <- SD601
        return self.out(values)

    def attend(self, q, k, v, mask=None):
        scores = torch.matmul(q, torch.transpose(k, -2, -1)) / math.sqrt(q.size()[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = F.softmax(scores, dim=-1)
        return torch.matmul(weights, v), weights
""",
        (
            (
                "        values = values.reshape(n, length, hidden)  # <- SD601",
                "        values = values.permute(0, 2, 1, 3).reshape(n, length, hidden)",
            ),
        ),
    ),
    "heads cut out of the batch": (
        """\
class Interacting(nn.Module):
    def __init__(self, fields, per_head=16, heads=4):
        super().__init__()
        self.per_head, self.heads = per_head, heads
        self.w_q = nn.Linear(fields, per_head * heads, bias=False)
        self.w_k = nn.Linear(fields, per_head * heads, bias=False)
        self.w_v = nn.Linear(fields, per_head * heads, bias=False)
        self.w_res = nn.Linear(fields, per_head * heads, bias=False)

    def forward(self, x):
        batch_size = x.size(0)
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        q = q.view(batch_size * self.heads, -1, self.per_head)  # <- SD601
        k = k.view(batch_size * self.heads, -1, self.per_head)
        v = v.view(batch_size * self.heads, -1, self.per_head)
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.per_head ** 0.5
        out = torch.matmul(scores.softmax(dim=-1), v)
        out = out.view(batch_size, -1, self.heads * self.per_head)
        return F.relu(out + self.w_res(x))
""",
        (
            (
                "        q = q.view(batch_size * self.heads, -1, self.per_head)  # <- SD601\n        k = k.view(batch_size * self.heads, -1, self.per_head)\n        v = v.view(batch_size * self.heads, -1, self.per_head)",
                "        q = q.view(batch_size, -1, self.heads, self.per_head).transpose(1, 2)\n        k = k.view(batch_size, -1, self.heads, self.per_head).transpose(1, 2)\n        v = v.view(batch_size, -1, self.heads, self.per_head).transpose(1, 2)",
            ),
            (
                "        out = out.view(batch_size, -1, self.heads * self.per_head)",
                "        out = out.transpose(1, 2).contiguous().view(batch_size, -1, self.heads * self.per_head)",
            ),
        ),
    ),
    "a view for a transposition": (
        """\
class Mixer(nn.Module):
    def __init__(self, tokens, width, heads):
        super().__init__()
        self.score = nn.Linear(width, tokens)
        self.attend = nn.MultiheadAttention(width, heads)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        n, length, width = x.shape
        weights = self.score(x).softmax(dim=1)
        y = torch.einsum("nlt,nlw->ntw", weights, x)
        tokens = y.shape[1]
        y = y.view(tokens, n, width)  # <- SD601
        z, _ = self.attend(y, y, y)
        z = z.view(n, tokens, width)
        return self.norm(z)
""",
        (
            ("        y = y.view(tokens, n, width)  # <- SD601", "        y = y.transpose(0, 1)"),
            ("        z = z.view(n, tokens, width)", "        z = z.transpose(0, 1)"),
        ),
    ),
    "an encoder for the other layout": (
        """\
class Coder(nn.Module):
    def __init__(self, vocab, width, heads, layers, latent, longest, pad=0):
        super().__init__()
        self.pad = pad
        self.embed = nn.Embedding(vocab, width, padding_idx=pad)
        self.place = nn.Parameter(torch.randn(1, longest, width))
        one = nn.TransformerEncoderLayer(width, heads)  # <- SD602
        self.encoder = nn.TransformerEncoder(one, layers)
        self.mean, self.spread = nn.Linear(width, latent), nn.Linear(width, latent)

    def forward(self, x):
        batch, steps = x.shape
        e = self.embed(x) + self.place[:, :steps]
        h = self.encoder(e)
        h = h.mean(dim=1)
        return self.mean(h), self.spread(h)
""",
        (
            (
                "        one = nn.TransformerEncoderLayer(width, heads)  # <- SD602",
                "        one = nn.TransformerEncoderLayer(width, heads, batch_first=True)",
            ),
        ),
    ),
    "positions along the batch": (
        """\
class Places(nn.Module):
    def __init__(self, dropout=0.1, longest=5000, d_model=512):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(longest).unsqueeze(1)
        steps = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(longest, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * steps)
        pe[:, 0, 1::2] = torch.cos(position * steps)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return self.dropout(x + self.pe[:x.size(0)])  # <- SD207


class Forecaster(nn.Module):
    def __init__(self, features, d_model=512, heads=8, layers=4):
        super().__init__()
        self.into = nn.Linear(features, d_model)
        self.places = Places(d_model=d_model)
        layer = nn.TransformerEncoderLayer(d_model, heads, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.out = nn.Linear(d_model, 1)

    def forward(self, src):
        return self.out(self.encoder(self.places(self.into(src))))
""",
        (
            (
                "        pe = torch.zeros(longest, 1, d_model)\n        pe[:, 0, 0::2] = torch.sin(position * steps)\n        pe[:, 0, 1::2] = torch.cos(position * steps)",
                "        pe = torch.zeros(1, longest, d_model)\n        pe[0, :, 0::2] = torch.sin(position * steps)\n        pe[0, :, 1::2] = torch.cos(position * steps)",
            ),
            (
                "        return self.dropout(x + self.pe[:x.size(0)])  # <- SD207",
                "        return self.dropout(x + self.pe[:, :x.size(1)])",
            ),
        ),
    ),
    "as many positions as examples": (
        """\
class Small(nn.Module):
    def __init__(self, vocab, width, longest, heads, layers):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.spots = nn.Embedding(longest, width)
        layer = nn.TransformerEncoderLayer(width, heads, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, vocab)

    def forward(self, x):
        pos = torch.arange(x.size(0), device=x.device).unsqueeze(1)  # <- SD207
        h = self.words(x) + self.spots(pos)
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.head(self.blocks(h, mask=mask))
""",
        (
            (
                "        pos = torch.arange(x.size(0), device=x.device).unsqueeze(1)  # <- SD207",
                "        pos = torch.arange(x.size(1), device=x.device).unsqueeze(0)",
            ),
        ),
    ),
    "every layer but the last asks": (
        """\
class LuongAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.W = nn.Linear(dim, dim, bias=False)

    def forward(self, decoder_hidden, encoder_out):
        scores = torch.bmm(self.W(encoder_out.transpose(0, 1)), decoder_hidden.permute(1, 2, 0))
        mask = F.softmax(scores, dim=1).transpose(1, 2)
        context = torch.bmm(mask, encoder_out.transpose(0, 1))
        return context.transpose(0, 1), mask


class Decoder(nn.Module):
    def __init__(self, vocab, embed_dim, hidden_dim, n_layers, dropout):
        super().__init__()
        self.n_layers = n_layers
        self.embed = nn.Embedding(vocab, embed_dim, padding_idx=1)
        self.attention = LuongAttention(hidden_dim)
        self.gru = nn.GRU(embed_dim + hidden_dim, hidden_dim, n_layers, dropout=dropout)
        self.out = nn.Linear(hidden_dim * 2, vocab)

    def forward(self, output, encoder_out, decoder_hidden):
        embedded = self.embed(output)
        context, mask = self.attention(decoder_hidden[:-1], encoder_out)  # <- SD305
        rnn_output, decoder_hidden = self.gru(torch.cat([embedded, context], dim=2), decoder_hidden)
        output = self.out(torch.cat([rnn_output, context], 2))
        return output, decoder_hidden, mask
""",
        (
            (
                "        context, mask = self.attention(decoder_hidden[:-1], encoder_out)  # <- SD305",
                "        context, mask = self.attention(decoder_hidden[-1:], encoder_out)",
            ),
        ),
    ),
    "directions before layers": (
        """\
class Bridge(nn.Module):
    def __init__(self, words, hidden, layers):
        super().__init__()
        self.layers, self.hidden = layers, hidden
        self.embed = nn.Embedding(words, hidden)
        self.encoder = nn.GRU(hidden, hidden, layers, bidirectional=True)
        self.decoder = nn.GRU(hidden, 2 * hidden, layers)
        self.out = nn.Linear(2 * hidden, words)

    def forward(self, src, trg):
        memory, h = self.encoder(self.embed(src))
        batch = h.size(1)
        h = h.view(2, self.layers, batch, self.hidden)  # <- SD305
        h = torch.cat((h[0], h[1]), dim=2)
        states, _ = self.decoder(self.embed(trg), h)
        scores = torch.bmm(states.transpose(0, 1), memory.permute(1, 2, 0))
        context = torch.bmm(scores.softmax(dim=-1), memory.transpose(0, 1))
        return self.out(context + states.transpose(0, 1))
""",
        (
            (
                "        h = h.view(2, self.layers, batch, self.hidden)  # <- SD305\n        h = torch.cat((h[0], h[1]), dim=2)",
                "        h = h.view(self.layers, 2, batch, self.hidden)\n        h = torch.cat((h[:, 0], h[:, 1]), dim=2)",
            ),
        ),
    ),
    "a mask for every head, head by head": (
        """\
class Residual(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head)
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))
        self.n_head = n_head

    def attention(self, x, mask):
        mask = mask.repeat(self.n_head, 1, 1)  # <- SD605
        return self.attn(x, x, x, need_weights=False, attn_mask=mask)[0]

    def forward(self, x, mask):
        x = x + self.attention(self.ln_1(x), mask)
        return x + self.mlp(self.ln_2(x))


class Cross(nn.Module):
    def __init__(self, words, width, layers, heads):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Residual(width, heads) for _ in range(layers)])

    def forward(self, ids):
        n, length = ids.shape
        hidden = (ids == 0).float() * -1e6
        hidden = hidden.unsqueeze(1).expand(-1, length, -1)
        x = self.embed(ids).permute(1, 0, 2)
        for block in self.blocks:
            x = block(x, hidden)
        return x.permute(1, 0, 2)
""",
        (
            (
                "        mask = mask.repeat(self.n_head, 1, 1)  # <- SD605",
                "        mask = mask.repeat_interleave(self.n_head, dim=0)",
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", REPORTED)
def test_what_is_reported_is_found(name: str) -> None:
    text = HEAD + REPORTED[name][0]
    assert all_found(text) == expected(text)


@pytest.mark.parametrize("name", REPORTED)
def test_what_made_it_right_is_silent(name: str) -> None:
    assert all_found(HEAD + mended(*REPORTED[name])) == []
