"""What rests on a comment that the rest of the file contradicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from tests.rules.expectations import found

HEAD = """\
import torch
import torch.nn as nn

"""

STALE = """
class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask):
        # mask: (B, T)
        B, T, d = x.shape
        q = self.q(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.k(x).view(B, T, self.heads, -1).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)).masked_fill(mask == 0, -1e9)
        return scores.softmax(-1)


class Model(nn.Module):
    def __init__(self, words, d, heads):
        super().__init__()
        self.embed = nn.Embedding(words, d)
        self.layer = Layer(d, heads)

    def forward(self, words):
        B, T = words.shape
        mask = (words != 0)%s
        return self.layer(self.embed(words), mask)
"""


def test_a_comment_that_every_caller_contradicts_is_the_fault() -> None:
    codes = [f.code for f in found(HEAD + STALE % "[:, None, None].expand(B, 1, T, T)", "SD205", "SD701")]
    assert codes == ["SD701"]


def test_a_mask_whose_axes_of_size_one_are_left_out_is_no_fault_and_no_evidence() -> None:
    findings = found(HEAD + STALE % ".unsqueeze(1).unsqueeze(2)", "SD205", "SD701")
    assert [(f.code, f.note) for f in findings] == [("SD701", True)]


def test_a_comment_that_the_caller_keeps_to_is_believed() -> None:
    codes = {f.code for f in found(HEAD + STALE % "", "SD205", "SD701")}
    assert codes == {"SD205"}


def test_a_size_that_only_a_comment_gives_is_no_evidence() -> None:
    text = """
class Decoder(nn.Module):
    def __init__(self, mels, frames):
        super().__init__()
        self.mels, self.frames = mels, frames

    def forward(self, memory, target):
        B, T, d = memory.shape
        first = torch.zeros(B, 1, self.mels * self.frames)
        # (B, T, mels) -> (B, T // frames, mels)
        target = target.view(target.size(0), int(target.size(1) / self.frames), -1)
        return torch.cat((first, target), dim=1)
"""
    assert found(HEAD + text, "SD104") == []


def test_a_name_that_stands_for_one_size_here_and_for_another_where_it_comes_from_says_nothing() -> None:
    text = """\
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, width, hidden, directions):
        super().__init__()
        self.hidden, self.directions = hidden, directions


class Decoder(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.directions = encoder.directions
        self.hidden = encoder.hidden * encoder.directions
        self.map = nn.Linear(encoder.hidden * encoder.directions, self.hidden)

    def forward(self, memory):
        # memory: (T, batch, hidden * directions)
        return self.map(memory)


Decoder(Encoder(3, 5, 2))
"""
    assert found(text, "SD106", "SD701") == []


def test_a_docstring_that_every_caller_contradicts_doubles_no_batch() -> None:
    text = """
class Attention(nn.Module):
    def forward(self, query, key, lens):
        '''
        :param query: (N, d)
        :param key: (N, T_max, d)
        :param lens: (N, T) the lengths
        '''
        energy = torch.bmm(key, query.unsqueeze(2)).squeeze(2)
        mask = torch.arange(key.size(1)).unsqueeze(0) >= lens.unsqueeze(1)
        return energy.masked_fill(mask, -1e9).softmax(1)


def run(words, embed: nn.Embedding):
    B, T = words.shape
    x = nn.Embedding(40, 8)(words)
    return Attention()(x[:, 0], x, (words != 0).sum(1))
"""
    assert [f.code for f in found(HEAD + text, "SD205", "SD202", "SD701")] == ["SD701"]


def test_what_shows_without_the_statements_stays_where_they_are_wrong() -> None:
    text = """
class Heads(nn.Module):
    '''Attends with several heads.

    Inputs: notes
        - **notes** (batch, length, width): what is attended to

    Returns: context, weights
        - **context** (batch, one, width): what was read
        - **weights** (batch * heads, length): the shares
    '''

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.project, self.score = nn.Linear(width, width), nn.Linear(width // heads, 1)

    def forward(self, notes):
        B, T = notes.size(0), notes.size(1)
        notes = self.project(notes).view(B, -1, self.heads, self.size).permute(0, 2, 1, 3)
        notes = notes.contiguous().view(-1, T, self.size)
        shares = self.score(notes).squeeze(2).softmax(1)
        notes = notes.view(B, T, self.heads, self.size).permute(0, 2, 1, 3)
        notes = notes.contiguous().view(-1, T, self.size)
        return torch.bmm(shares.unsqueeze(1), notes), shares.view(B, self.heads, -1)
"""
    assert {f.code for f in found(HEAD + text, "SD601", "SD701")} == {"SD601", "SD701"}


RAISES = """
import pytest


def product(a, b):
    # a: (n, m), b: (m, p)
    return a @ b


def test_two_numbers() -> None:
    with pytest.raises(RuntimeError):
        product(torch.randn(2, 7), torch.randn(6, 3))
"""


def test_what_is_expected_to_fail_leaves_no_doubt_behind() -> None:
    assert found(HEAD + RAISES) == []


SCORER = """\
import numpy as np


class Scorer:
    def forward(self, query, key, mask):
        # query, key: (%s)
        # mask: (batch, length, length)
        scores = np.matmul(query, key.transpose(0, 1, 3, 2))
        return np.where(mask == 0, -1e9, scores)
"""

HEADS = """\
import numpy as np

from scorer import Scorer


class Heads:
    def __init__(self, heads, d):
        self.heads, self.d = heads, d
        self.weight = np.random.randn(heads * d, heads * d)
        self.scorer = Scorer()

    def forward(self, x, mask):
        # x: (batch, length, width)
        # mask: (batch, length, length)
        batch, length, width = x.shape
        y = np.matmul(x, self.weight).reshape(batch, length, self.heads, self.d).transpose(0, 2, 1, 3)
        return self.scorer.forward(y, y, mask)
"""


@pytest.mark.parametrize(("stated", "lines"), [("batch, length, d", []), ("batch, heads, length, d", [9])])
def test_a_comment_of_another_file_that_the_caller_contradicts_makes_the_callers_own_doubtful(
    tmp_path: Path, stated: str, lines: list[int]
) -> None:
    (tmp_path / "scorer.py").write_text(SCORER % stated)
    heads = tmp_path / "heads.py"
    heads.write_text(HEADS)
    findings = analyse(str(heads), heads.read_text(), Settings(roots=(str(tmp_path),))).findings
    assert [f.span.line for f in findings if f.code == "SD205"] == lines


def test_a_comment_that_the_docstring_contradicts_is_no_evidence() -> None:
    text = """
import math

class Series(nn.Module):
    def __init__(self, n_vars, d_model, n_heads, n_layers):
        super().__init__()
        self.width = d_model
        self.into = nn.Linear(n_vars, d_model)
        layer = nn.TransformerEncoderLayer(d_model, n_heads)
        self.encoder = nn.TransformerEncoder(layer, n_layers)
        self.out = nn.Linear(d_model, n_vars)

    def forward(self, x, keep):
        '''
        Args:
            x: (batch_size, steps, n_vars) torch tensor of masked variables
            keep: (batch_size, steps) boolean tensor, 1 means keep, 0 means padding
        '''
        # permute, as the convention is [steps, batch_size, n_vars]. keep [batch_size, n_vars]
        rows = x.permute(1, 0, 2)
        rows = self.into(rows) * math.sqrt(self.width)
        rows = self.encoder(rows, src_key_padding_mask=~keep)
        return self.out(rows.permute(1, 0, 2))
"""
    assert found(HEAD + text, "SD112", "SD205") == []
