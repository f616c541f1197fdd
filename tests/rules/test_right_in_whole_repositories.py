"""Right code that stands beside models in a repository: routers, scorers, references, of kinds once told as wrong."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\nfrom kernels import run_kernel\n\n\n"

RIGHT = {
    "SD404: the share of the tokens that a router sends to each expert": """
def balance(gate_logits, num_experts, attention_mask):
    weights = torch.softmax(gate_logits, dim=-1)
    batch_size, T = attention_mask.shape
    layers = gate_logits.shape[0] // (batch_size * T)
    mask = attention_mask[None, :, :, None].expand((layers, batch_size, T, num_experts)).reshape(-1, num_experts)
    return torch.sum(weights * mask, dim=0) / torch.sum(mask, dim=0)
""",
    "SD104: several results of a function that is not read, each joined along its own axis": """
def halves(k, w):
    parts = [run_kernel(k[:, low:high], w[:, low:high]) for low, high in [(0, 10), (10, 20)]]
    states = torch.cat([p[0] for p in parts], dim=1)
    values = torch.cat([p[1] for p in parts], dim=1)
    last = torch.cat([p[2] for p in parts], dim=0)
    return states, values, last
""",
    "SD405: content and position are scored apart, and scaled by the root of both widths": """
class Latent(nn.Module):
    def __init__(self, d, d_content, d_rotary):
        super().__init__()
        self.width = d_content + d_rotary
        self.q_content, self.q_rotary = nn.Linear(d, d_content), nn.Linear(d, d_rotary)
        self.k_content, self.k_rotary = nn.Linear(d, d_content), nn.Linear(d, d_rotary)
        self.scale = self.width**-0.5

    def forward(self, x):
        rotary = torch.matmul(self.q_rotary(x), self.k_rotary(x).transpose(1, 2))
        content = torch.matmul(self.q_content(x), self.k_content(x).transpose(1, 2))
        weights = torch.softmax((rotary + content) * self.scale, dim=-1)
        return torch.matmul(weights, x)
""",
    "SD502: the caller chooses whether a position sees itself": """
def causal_softmax(scores, strict=True):
    T = scores.size(-1)
    rows = torch.arange(T).view(1, 1, T, 1)
    columns = torch.arange(T).view(1, 1, 1, T)
    if strict:
        mask = columns < rows
    else:
        mask = columns <= rows
    scores = scores.masked_fill(~mask, float("-inf"))
    shares = (scores - scores.max(dim=-1, keepdim=True).values).exp().masked_fill(~mask, 0.0)
    return shares / shares.sum(dim=-1, keepdim=True).clamp_min(1e-20)
""",
    "SD607: NumPy puts the result where the operand was": """
def cleaned(table):
    numbers = np.where(np.isfinite(table), table, np.nan)
    np.nan_to_num(numbers, copy=False, nan=0.0)
    return numbers.mean(axis=0)
""",
    "SD401: a softmax for one row or several": """
def softmax(x):
    if len(x.shape) > 1:
        x = np.exp(x - np.max(x, axis=1).reshape((x.shape[0], 1)))
        x /= np.sum(x, axis=1).reshape((x.shape[0], 1))
    else:
        x = np.exp(x - np.max(x))
        x /= np.sum(x)
    return x


def loss(center, index, outside):
    shares = softmax(outside @ center)
    return -np.log(shares[index]), outside.T @ shares
""",
    "SD701: a comment that says what one operand is spread over": '''
def gate(g, bias):
    """Args:
        g: raw input; shape ``(B, T, H, S)``.
        bias: shape ``(H, S)``.
    """
    z = g.float()
    if bias is not None:
        z = z + bias.float()  # (H, S) broadcasts over (B, T, H, S)
    return z
''',
    "SD102: a table of the size that the constructor was told, viewed by the size of the input": """
class Biased(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.key = nn.Linear(d, d)
        self.biases = nn.Parameter(torch.ones((n, n)))

    def forward(self, x):
        batch_size, n, d = x.shape
        key = self.key(x).view(1, batch_size, n, d)
        return torch.sum(torch.exp(key + self.biases.view(n, 1, -1, 1)), dim=2)
""",
    "SD106: channels that are there for all blocks but the first": """
def convolution(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 1), nn.BatchNorm2d(c_out), nn.ReLU())


class Block(nn.Module):
    def __init__(self, c, c_skip, c_out, is_first):
        super().__init__()
        self.is_first = is_first
        self.one, self.two, self.three = convolution(c, c), convolution(c, c // 2), convolution(c // 2, c // 2)
        self.last = convolution(2 * c + (0 if is_first else c_skip), c_out)

    def forward(self, x):
        if not isinstance(x, list):
            x = [x]
        one = self.one(x[0])
        two = self.two(one)
        three = self.three(two)
        if self.is_first:
            out = self.last(torch.cat([one, two, three], 1))
            return [out, out]
        return [self.last(torch.cat([one, two, three, x[1]], 1)), x[1]]
""",
    "SD102: as many of the last tokens as there are steps but one": """
def scores(logits, tokens):
    logits = logits[:, :-1]
    picked = []
    for row, chosen in zip(logits, tokens[:, -logits.size(1) :]):
        picked.append(torch.gather(row, 1, chosen.unsqueeze(1)))
    return torch.stack(picked)


def run(B, T, V):
    return scores(torch.randn(B, T + 1, V), torch.randint(0, V - 1, (B, T + 64)))
""",
    "SD206: the caller says which of two axes is 1": """
class Step(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x, offsets=None):
        B, T, D = x.shape
        return self.step(x, offsets)

    def step(self, x, offsets):
        x = x.squeeze(0) if offsets is not None else x.squeeze(1)
        return x * self.weight
""",
    "SD105: scorers of which only those with a list of names give a list of scores": """
class Grams:
    def compute_score(self, truth, found):
        return [0.1, 0.2], [[0.1], [0.2]]


class Longest:
    def compute_score(self, truth, found):
        score = [float(len(t)) for t in truth]
        return np.mean(np.array(score)), np.array(score)


def evaluate(truth, found):
    for scorer, names in [(Grams(), ["one", "two"]), (Longest(), "longest")]:
        score, scores = scorer.compute_score(truth, found)
        if type(names) == list:
            for one, several, name in zip(score, scores, names):
                print(name, one, several)
        elif type(names) is str:
            print(names, score)
""",
    "SD101: layers of one class and of many widths, by their number": """
class Linear:
    def __init__(self, in_features, out_features):
        self.W = np.zeros((out_features, in_features))
        self.b = np.zeros((out_features, 1))

    def forward(self, A):
        self.A = A
        ones = np.ones((A.shape[0], 1))
        return A @ self.W.T + ones @ self.b.T


class ReLU:
    def forward(self, Z):
        self.A = np.maximum(0, Z)
        return self.A


class Network:
    def __init__(self):
        self.layers = [Linear(2, 4), Linear(4, 8), Linear(8, 8), Linear(8, 4), Linear(4, 2)]
        self.f = [ReLU(), ReLU(), ReLU(), ReLU(), ReLU()]

    def forward(self, A):
        L = len(self.layers)
        for i in range(L):
            Z = self.layers[i].forward(A)
            A = self.f[i].forward(Z)
        return A


out = Network().forward(np.ones((5, 2)))
""",
    "SD102: the first of one result or two, and the others": """
class Attend(nn.Module):
    def __init__(self, d, n_heads, weights):
        super().__init__()
        self.proj = nn.Linear(d, d)
        self.weights = weights

    def forward(self, x):
        B, T, d = x.shape
        probs = torch.softmax(torch.bmm(x, x.transpose(1, 2)), dim=-1)
        out = self.proj(torch.bmm(probs, x))
        return (out, probs) if self.weights else (out,)


class Residual(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)

    def forward(self, x, sublayer):
        output = sublayer(self.norm(x))
        if isinstance(output, tuple):
            output, *other = output
        else:
            other = None
        return x + output, other


class Layer(nn.Module):
    def __init__(self, d, n_heads, weights):
        super().__init__()
        self.attend, self.residual = Attend(d, n_heads, weights), Residual(d)

    def forward(self, x):
        x, other = self.residual(x, lambda y: self.attend(y))
        return x, other
""",
    "SD701: two comments, of a step and of what comes of it": """
def sliced(x, weight, heads, d_head):
    T, B, d = x.size(0), x.size(1), x.size(2)
    # results: [T, B, heads, 3, d_head]
    # results: [T, B * heads, 3, d_head]
    results = torch.mm(x.view(T * B, d), weight.t()).view(T, B * heads, 3, d_head)
    return results[:, :, 0, :]
""",
    "SD111: a comment on a product that stands two lines down": """
def backward(gradients, weights):
    # Data gradients
    # GEMM: ( T*B x embed_dim ) x ( embed_dim x embed_dim ) = ( T*B x embed_dim )
    gradients = gradients.contiguous()

    flat = torch.mm(gradients.view(gradients.size(0) * gradients.size(1), gradients.size(2)), weights)
    return flat.view(gradients.size(0), gradients.size(1), weights.size(1))
""",
    "SD501: blocks of a table, bounded by one number of rows and of columns": """
def blocks(half):
    def mask(row, column):
        row_early, column_early = row < half, column < half
        return (row // 4 > column // 4) & row_early & ~column_early

    return mask


def run(half, n):
    return blocks(half)(torch.arange(n)[:, None], torch.arange(n)[None, :])
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
