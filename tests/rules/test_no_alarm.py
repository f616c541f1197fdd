"""What public code writes and means: each program says what is found in it, and nothing else is."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from tests.rules.expectations import Found, expected

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"

EXPECTED_EXCEPTION = """\
import pytest


def test_refused():
    x = torch.randn(2, 3)
    with pytest.raises(RuntimeError):
        y = x @ torch.randn(4, 5)
    z = y + torch.randn(7, 9)
    return x @ torch.randn(4, 5)  # <- SD101


@pytest.mark.xfail
def test_not_yet():
    return torch.randn(2, 3) @ torch.randn(4, 5)
"""

ONE_NUMBER_BEFORE_TORCH_04 = """\
def train(model, batch, labels):
    loss = nn.CrossEntropyLoss()(model(batch), labels)
    print(loss.data[0], loss.cpu().data.numpy()[0])
    return loss[0]  # <- SD105
"""

BANK_OF_UNKNOWN_LENGTH = """\
class Bank(nn.Module):
    def __init__(self, K, d):
        super().__init__()
        self.bank = nn.ModuleList()
        for k in range(1, K + 1):
            self.bank.append(nn.Conv1d(d, d, kernel_size=k))
        self.norm = nn.BatchNorm1d(d * K)

    def forward(self, x):
        out = self.bank[0](x)
        for k in range(1, len(self.bank)):
            out = torch.cat([out, self.bank[k](x)], dim=1)
        return self.norm(out)


result = Bank(16, 8)(torch.randn(2, 8, 30))
"""

BANK_OF_THREE = """\
class Bank(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.bank = nn.ModuleList()
        for k in range(1, 4):
            self.bank.append(nn.Conv1d(d, d, kernel_size=1))
        self.norm = nn.BatchNorm1d(d * 2)  # <- SD106

    def forward(self, x):
        out = self.bank[0](x)
        for k in range(1, len(self.bank)):
            out = torch.cat([out, self.bank[k](x)], dim=1)
        return self.norm(out)


result = Bank(8)(torch.randn(2, 8, 30))
"""

ARRAY_OR_SIZE = """\
class Words(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.Tensor(vectors))

    def forward(self, tokens):
        return self.embedding(tokens)


def pad(texts):
    lengths = torch.LongTensor([len(t) for t in texts])
    padded = torch.LongTensor(len(texts), lengths.max())
    padded[0, : lengths[0]] = texts[0]
    return padded
"""

RANK_EXCLUDED_BY_A_TEST = """\
from einops import rearrange, repeat


def decode(queries, latents):
    n, device = queries.shape[1], queries.device
    queries = queries + torch.randn(1, n, 1)
    if queries.ndim == 2:
        queries = repeat(queries, "n d -> b n d", b=latents.shape[0])
    return queries
"""

ONE_SHAPE_OR_ANOTHER = '''\
class PreNet(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.map = nn.Linear(d_in, d_out)

    def forward(self, x):
        """
        Args:
            x: [N, T, D], D is the input's width / [N, D]
        Returns:
            [N, T, H], H is the hidden width / [N, H]
        """
        return self.map(x)


result = PreNet(5, 7)(torch.randn(2, 5))
'''

WHAT_ONE_BRANCH_KNOWS = '''\
class Decoder(nn.Module):
    def __init__(self, d, embedder=None):
        super().__init__()
        self.embedder = embedder
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, tokens, state):
        """
        tokens: token tensor of shape (batch, seq_len)
        """
        if self.embedder is not None:
            inputs = self.embedder(tokens)
        else:
            inputs = tokens[:, :1]
        # output.shape: (batch, seq_len, hidden_size)
        output, state = self.rnn(inputs, state)
        return output
'''

COMMENTS_THAT_CONTRADICT_EACH_OTHER = '''\
class Convolution(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.linear = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        """
        x: [B, T, d_model]
        mask: [B, 1, T]  # <- SD701
        """
        x = self.linear(x).transpose(1, 2)
        if mask is not None:
            x = x.masked_fill(mask == 0, 0.0)
        return x


class Layer(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.convolution = Convolution(d_model)

    def forward(self, x, mask):
        """
        x: [B, T, d_model]
        mask: [B, T]
        """
        return self.convolution(x, mask)
'''

SIZES_THAT_A_TEST_MAKES_EQUAL = """\
class Stack(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first, self.second = nn.Linear(2 * d, d), nn.Linear(d, d)

    def forward(self, inputs):
        output = self.first(inputs)
        if inputs.size(-1) == output.size(-1):
            output = output + inputs
        return self.second(output)
"""

AN_ASSERT_THAT_IS_A_CALL = """\
from torch import _assert


class Window(nn.Module):
    def __init__(self, resolution, d):
        super().__init__()
        self.resolution = resolution
        self.bias = nn.Parameter(torch.zeros(d, resolution, resolution))

    def forward(self, x):
        B, C, H, W = x.shape
        _assert(H == self.resolution, "height")
        _assert(W == self.resolution, "width")
        return x + self.bias.reshape(1, C, self.resolution, self.resolution)
"""

A_SETTING_WITH_ITS_ARGUMENT = """\
class Attention(nn.Module):
    def __init__(self, d, n_heads, use_global=True):
        super().__init__()
        self.n_heads, self.use_global = n_heads, use_global
        self.qkv = nn.Linear(d, 2 * d if use_global else 3 * d)

    def forward(self, x, q_global=None):
        B, T, d = x.shape
        if self.use_global and q_global is not None:
            return self.qkv(x).reshape(B, T, 2, self.n_heads, d // self.n_heads)
        else:
            return self.qkv(x).reshape(B, T, 3, self.n_heads, d // self.n_heads)
"""

TWO_SOFTMAXES_OF_ONE_SUM = """\
class Flow(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.context, self.query = nn.Linear(d, 1), nn.Linear(d, 1)

    def forward(self, context, query):
        n = query.size(1)
        scores = self.context(context).expand(-1, -1, n) + self.query(query).permute(0, 2, 1)
        to_query = torch.bmm(F.softmax(scores, dim=2), query)
        to_context = torch.bmm(F.softmax(scores.max(dim=2)[0], dim=1).unsqueeze(1), context)
        return to_query, to_context
"""

A_SHAPE_BEFORE_AND_ITS_PRODUCT_AFTER = """\
def loss_of(logits, targets):
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))  # (B, T) -> B x T
    return loss
"""

ONE_ELEMENT_IS_A_BATCH_OF_ONE = """\
def generate(model, tokens):
    batch_size, length = tokens.shape
    tokens = torch.cat([tokens, model(tokens).reshape(batch_size, 1)], dim=1)
    print(tokens[:, -1].item())
    return tokens.squeeze(0).tolist()
"""

VECTORS_JOINED = """\
def score(v, d, query, key):
    energy = nn.Linear(2 * d, d)(torch.cat((query, key), 0))
    return v.dot(torch.tanh(energy))
"""

TOKENS_ARE_NO_CACHE = """\
class Model(nn.Module):
    def __init__(self, words, block_size, d):
        super().__init__()
        self.block_size = block_size
        self.words, self.places = nn.Embedding(words, d), nn.Embedding(block_size, d)
        self.query, self.key, self.head = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, words)

    def forward(self, tokens):
        b, t = tokens.size()
        x = self.words(tokens) + self.places(torch.arange(0, t))
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / x.size(-1) ** 0.5
        scores = scores.masked_fill(torch.tril(torch.ones(t, t)) == 0, float("-inf"))
        return self.head(F.softmax(scores, dim=-1) @ x)

    @torch.no_grad()
    def generate(self, tokens, count):
        for _ in range(count):
            window = tokens if tokens.size(1) <= self.block_size else tokens[:, -self.block_size :]
            probabilities = F.softmax(self(window)[:, -1, :], dim=-1)
            tokens = torch.cat((tokens, torch.multinomial(probabilities, num_samples=1)), dim=1)
        return tokens
"""

RESULTS_DOCUMENTED_IN_ANOTHER_ORDER = '''\
def decode(memory, targets):
    """
    Args:
        memory: (B, T, d)
        targets: (B, L)
    Returns:
        alignments: (L, T, B)
        logits: (B, V)
    """
    B, T, d = memory.shape
    alignments = torch.zeros(targets.size(1), T, B)
    logits = memory.sum(dim=1)
    return logits.detach(), alignments
'''

ONE_SEQUENCE_WHERE_THE_FUTURE_IS_HIDDEN = """\
class Sparse(nn.Module):
    def __init__(self, few, masked=True):
        super().__init__()
        self.few, self.masked = few, masked

    def scores(self, Q, K):
        B, H, L_K, E = K.shape
        _, _, L_Q, _ = Q.shape
        every = K.unsqueeze(-3).expand(B, H, L_Q, L_K, E)
        return torch.matmul(Q, K.transpose(-2, -1)) + every.sum(-1)

    def start(self, V, L_Q):
        B, H, L_V, D = V.shape
        if not self.masked:
            return V.mean(dim=-2).unsqueeze(-2).expand(B, H, L_Q, D).clone()
        assert L_Q == L_V
        return V.cumsum(dim=-2)

    def forward(self, queries, keys, values):
        B, L_Q, H, D = queries.shape
        _, L_K, _, _ = keys.shape
        queries, keys, values = queries.transpose(2, 1), keys.transpose(2, 1), values.transpose(2, 1)
        scores = self.scores(queries, keys)[:, :, : self.few] / D**0.5
        start = self.start(values, L_Q)
        B, H, L_V, D = values.shape
        return start, torch.matmul(torch.softmax(scores, dim=-1), values)
"""

ONE_NAME_FOR_THE_BATCH_OF_ALL = """\
class Attention(nn.Module):
    def __init__(self, n_head, d_model, d_k):
        super().__init__()
        self.n_head, self.d_k = n_head, d_k
        self.w_q, self.w_k = nn.Linear(d_model, n_head * d_k), nn.Linear(d_model, n_head * d_k)

    def forward(self, q, k):
        sz_b, len_q, _ = q.size()
        sz_b, len_k, _ = k.size()
        q = self.w_q(q).view(sz_b, len_q, self.n_head, self.d_k).transpose(1, 2)
        k = self.w_k(k).view(sz_b, len_k, self.n_head, self.d_k).transpose(1, 2)
        return F.softmax(torch.matmul(q, k.transpose(2, 3)) / self.d_k**0.5, dim=-1)


class Decoder(nn.Module):
    def __init__(self, words, n_head, d_model, d_k):
        super().__init__()
        self.embed, self.attend = nn.Embedding(words, d_model), Attention(n_head, d_model, d_k)

    def recognize(self, memory, hyps):
        T, d_model = memory.shape
        memory = memory.unsqueeze(0)
        for hyp in hyps:
            weights = self.attend(self.embed(hyp["tokens"]), memory)
        return weights
"""

PROGRAMS = {
    name.lower(): text for name, text in list(globals().items()) if name.isupper() and name not in ("HEAD", "PROGRAMS")
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + PROGRAMS[name]
    findings = analyse("model.py", text, Settings()).findings
    assert sorted(Found(f.span.line, f.code) for f in findings if f.severity != "note") == expected(text)
