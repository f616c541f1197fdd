"""Right code with masks, flags and statements that are easily misread: nothing is found in any of it."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import functools\nimport math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"

RIGHT = {
    "a flag that is compared with False": """
class Norm(nn.Module):
    def __init__(self, hidden_size, conditional=False):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(hidden_size))
        self.conditional = conditional
        if conditional == True:
            self.from_condition = nn.Linear(2 * hidden_size, hidden_size, bias=False)

    def forward(self, x):
        if self.conditional == False:
            return self.gain * x
        else:
            gain = self.gain + self.from_condition(x[1])
            return gain * x[0]


class Embeddings(nn.Module):
    def __init__(self, n_words, hidden_size):
        super().__init__()
        self.words = nn.Embedding(n_words, hidden_size)
        self.norm = Norm(hidden_size)

    def forward(self, words):
        return self.norm(self.words(words))
""",
    "a mask that need not be given, turned round": """
class Classifier(nn.Module):
    def __init__(self, d_model, pooling="statistics"):
        super().__init__()
        self.pooling = pooling
        self.score = nn.Sequential(nn.Conv1d(d_model, d_model, 1), nn.Softmax(dim=2))

    def pool(self, h, mask):
        weights = self.score(h.transpose(1, 2)).transpose(1, 2)
        if mask is not None:
            kept = mask.unsqueeze(-1).float()
            weights = weights * kept
            weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-6)
        return (weights * h).sum(dim=1)

    def forward(self, x, mask=None):
        if self.pooling == "max":
            if mask is not None:
                x = x.masked_fill(~mask.unsqueeze(-1), float("-inf"))
            return x.max(dim=1)[0]
        return self.pool(x, mask)
class Model(nn.Module):
    def __init__(self, d_model, n_layers):
        super().__init__()
        self.blocks = nn.ModuleList([nn.TransformerEncoderLayer(d_model, 4, batch_first=True) for _ in range(n_layers)])
        self.classifier = Classifier(d_model)

    def forward(self, x, lengths=None):
        padding_mask = None
        if lengths is not None:
            max_len = x.size(1)
            padding_mask = torch.arange(max_len, device=x.device).unsqueeze(0) >= lengths.unsqueeze(1)
        for block in self.blocks:
            x = block(x, src_key_padding_mask=padding_mask)
        valid_mask = ~padding_mask if padding_mask is not None else None
        return self.classifier(x, mask=valid_mask)
""",
    "a window that is not known": """
class Windowed(nn.Module):
    def __init__(self, config, window_size=None, causal: bool = True):
        super().__init__()
        self.window_size, self.causal = window_size, causal

    def forward(self, x):
        length = x.shape[1]
        rows = torch.arange(length).view(-1, 1)
        window_size = self.window_size or length
        first = (rows - window_size + 1).clamp(min=0)
        columns = torch.arange(length)
        return (columns >= first)[None, None]


class Codec(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.block = Windowed(config, window_size=getattr(config(), "window_size", 512))

    def forward(self, x):
        return self.block(x)
""",
    "a signature in common": """
class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).permute(0, 2, 1, 3)

    def forward(self, hidden, attention_mask=None, encoder_hidden=None, encoder_attention_mask=None):
        query, key, value = self.heads(self.query(hidden)), self.heads(self.key(hidden)), self.heads(self.value(hidden))
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(self.d_head)
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = nn.Softmax(dim=-1)(scores)
        return torch.matmul(weights, value)
""",
    "two things to return": '''
def atom_mask(sequence, boolean=True, table=None):
    """Where a residue has an atom.
    Inputs:
    * sequence: (batch, length)
    * boolean: whether to give truth values or places
    Outputs: (batch, length, N_ATOMS) boolean mask
    """
    mask = torch.stack([table[residues] for residues in sequence], dim=0)
    if boolean:
        return mask.bool()
    else:
        return mask.nonzero()


def places(sequence, table):
    return atom_mask(sequence, boolean=False, table=table)
''',
    "the values in a comment": """
def completed(ends, n_rows, taken):
    # ends[0] may be [0, 0, 0, 1, 2, 2]
    #
    # strategy:
    #  counts: [3, 1, 2]
    #  order: [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
    counts = torch.bincount(ends, minlength=n_rows)
    order = torch.arange(counts.max())
    inside = order < counts.unsqueeze(1)
    return inside & (order < taken.unsqueeze(1))
""",
    "a mask or a step, by whether there is a cache": '''
class Average(nn.Module):
    def __init__(self, model_dim):
        super().__init__()
        self.gate = nn.Linear(model_dim * 2, model_dim * 2)

    def mask(self, batch_size, length):
        triangle = torch.tril(torch.ones(length, length))
        weights = torch.ones(1, length) / torch.arange(1, length + 1)
        return (triangle * weights.transpose(0, 1)).unsqueeze(0).expand(batch_size, length, length)

    def average(self, inputs, mask_or_step, cache=None):
        if cache is not None:
            step = mask_or_step
            average = (inputs + step * cache["before"]) / (step + 1)
            cache["before"] = average
            return average
        else:
            return torch.matmul(mask_or_step, inputs)

    def forward(self, inputs, cache=None, step=None):
        """inputs (FloatTensor): ``(batch_size, input_len, model_dim)``"""
        batch_size, length = inputs.size(0), inputs.size(1)
        averages = self.average(inputs, self.mask(batch_size, length) if cache is None else step, cache=cache)
        return self.gate(torch.cat((inputs, averages), -1))
''',
    "a comment of another rank than its value": """
class Compose(nn.Module):
    def __init__(self, w_dim, embed):
        super().__init__()
        self.rnn = nn.LSTM(w_dim, w_dim, bidirectional=True, batch_first=True)
        self.V = nn.Linear(2 * w_dim, 2 * w_dim, bias=False)
        self.embed = embed

    def forward(self, children, lengths, labels, state):  # children: (batch_size, n_children, w_dim)
        h, _ = self.rnn(children)
        right = torch.cat([self.embed(labels), state], dim=1)  # (batch_size, w_dim*2, 1)
        logit = (self.V(h) * right.unsqueeze(1)).sum(-1)
        attn = F.softmax(logit, -1)
        return (h * attn.unsqueeze(-1)).sum(1)
""",
    "results that one way has more of": """
class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, hidden, bias=None, with_weights=False):
        batch_size, length, _ = hidden.shape
        q = self.q(hidden).view(batch_size, -1, self.n_heads, self.d_head).transpose(1, 2)
        scores = torch.matmul(q, q.transpose(3, 2))
        if bias is None:
            bias = torch.zeros(1, self.n_heads, length, length)
        weights = torch.softmax(scores + bias, dim=-1)
        context = torch.matmul(weights, q).transpose(1, 2).reshape(batch_size, length, -1)
        outputs = (self.out(context), bias + scores)
        if with_weights is not None:
            outputs = outputs + (weights,)
        return outputs


class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = Attention(d_model, n_heads)

    def forward(self, hidden, bias=None, with_weights=None):
        attended = self.attention(hidden, bias=bias, with_weights=with_weights)
        hidden = hidden + attended[0]
        return (hidden,) + attended[1:]


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.one, self.other = Layer(d_model, n_heads), Layer(d_model, n_heads)

    def forward(self, hidden, with_weights=None):
        outputs = self.one(hidden, with_weights=with_weights)
        hidden, bias = outputs[:2]
        outputs = self.other(hidden, bias=bias, with_weights=with_weights)
        return hidden + outputs[0]
""",
    "a mask of a step count that is not known": """
def create_mask(padding_mask, T_q: int, T_k: int):
    mask = padding_mask.unsqueeze(1).unsqueeze(1)
    causal = torch.tril(torch.ones(T_q, T_k, dtype=torch.bool))
    causal = causal.unsqueeze(0).unsqueeze(1)
    return causal & mask


def attend(x, padding_mask, project):
    b, t = padding_mask.shape
    q, k = project(x)
    mask = create_mask(padding_mask, T_k=k.shape[1], T_q=t)
    return mask
""",
    "a docstring that has the batch second": '''
class Attention(nn.Module):
    def __init__(self, embed_dim, n_heads):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, embed_dim // n_heads
        self.q_proj, self.k_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)

    def forward(self, hidden_states, attention_mask=None):
        bsz, tgt_len, embed_dim = hidden_states.size()
        query = self.q_proj(hidden_states).view(bsz, tgt_len, self.n_heads, self.head_dim).transpose(1, 2)
        key = self.k_proj(hidden_states).view(bsz, -1, self.n_heads, self.head_dim).transpose(1, 2)
        src_len = key.size(2)
        scores = query @ key.transpose(-1, -2)
        if attention_mask is not None:
            assert attention_mask.size() == (bsz, 1, tgt_len, src_len)
            scores = scores + attention_mask
        return torch.softmax(scores, dim=-1)


class Layer(nn.Module):
    def __init__(self, embed_dim, n_heads):
        super().__init__()
        self.attend = Attention(embed_dim, n_heads)

    def forward(self, hidden_states, attention_mask=None):
        """
        Args:
            hidden_states (:obj:`torch.FloatTensor`): input to the layer of shape `(seq_len, batch, embed_dim)`
            attention_mask (:obj:`torch.FloatTensor`): attention mask of size
                `(batch, 1, tgt_len, src_len)` where padding elements are very large negative values.
        """
        return self.attend(hidden_states, attention_mask=attention_mask)
''',
    "a length that a docstring and the settings call by two names": """
class Attention(nn.Module):
    def __init__(self, n_steps, d):
        super().__init__()
        self.n_steps = n_steps
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, query, key, value):
        '''
        Args:
            query (torch.Tensor): queries of shape (batch_size, seq_len, d).
            key (torch.Tensor): keys of shape (batch_size, seq_len, d).
        '''
        scores = torch.einsum("bid,bjd->bij", self.q(query), self.k(key))
        B = query.shape[0]
        scores += torch.triu(torch.full((B, self.n_steps, self.n_steps), float("-inf")), diagonal=1)
        return torch.softmax(scores, -1) @ self.v(value)


class Layer(nn.Module):
    def __init__(self, tgt_len, d):
        super().__init__()
        self.attention = Attention(tgt_len, d)

    def forward(self, x, mask):
        '''
        Args:
            x (torch.Tensor): input of shape (batch_size, seq_len, d).
            mask (torch.Tensor): padding of shape (batch_size, tgt_len, tgt_len).
        '''
        return self.attention(x, x, x)


class Decoder(nn.Module):
    def __init__(self, n_words, tgt_len, d):
        super().__init__()
        self.embed = nn.Embedding(n_words, d)
        self.layers = nn.ModuleList([Layer(tgt_len, d) for _ in range(3)])
        self.tgt_len = tgt_len

    def forward(self, words):
        '''
        Args:
            words (torch.Tensor): tokens of shape (batch_size, seq_len).
        '''
        mask = (words == 2).unsqueeze(1)  # (batch_size, 1, tgt_len)
        mask = mask.expand(-1, self.tgt_len, -1)  # (batch_size, tgt_len, tgt_len)
        x = self.embed(words)
        for layer in self.layers:
            x = layer(x, mask)
        return x
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
