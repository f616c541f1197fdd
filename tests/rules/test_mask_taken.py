"""SD501: masks that are parameters, by what is said of them and what else is done with them."""

from __future__ import annotations

import pytest

from shapedoc.core.trace import Trace
from shapedoc.rules.masks.words import stated_sign
from tests.rules.expectations import expected, found

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""

WRONG = {
    "the docstring says that zeros are hidden": '''
def attend(q, k, v, mask=None):
    """
    q: (b, t, d)
    mask: (b, t, s), 0 will be masked out
    """
    scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask != 0, -1e9)  # <- SD501
    return torch.bmm(F.softmax(scores, dim=-1), v)
''',
    "the docstring of the caller says which tokens are real": '''
class Reader(nn.Module):
    def hide(self, scores, mask):
        return scores.masked_fill(mask.unsqueeze(1).bool(), float("-inf"))  # <- SD501

    def forward(self, scores, values, mask):
        """Read the values.

        :param scores: how well each fits.
        :param mask: (b, t), 1 for tokens that are real and 0 for padding.
        """
        return torch.bmm(F.softmax(self.hide(scores, mask), dim=-1), values)
''',
    "a first element is added that is to be seen": """
def attend(sim, v, mask):
    mask = F.pad(mask, (1, 0), value=True)
    sim = sim.masked_fill(mask[:, None, :], -1e9)  # <- SD501
    return torch.bmm(sim.softmax(dim=-1), v)
""",
    "a mean over what is kept": """
class Both(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.rate = nn.Linear(d, 1)

    def forward(self, x, mask):
        kept = mask.unsqueeze(-1)
        mean = torch.sum(x * kept, 1) / torch.sum(kept, 1)
        scores = self.rate(x).squeeze(-1).masked_fill(mask != 0, -1e9)  # <- SD501
        return mean + torch.bmm(F.softmax(scores, dim=-1).unsqueeze(1), x).squeeze(1)
""",
    "one of three fills with 0": """
class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask):
        x = x.masked_fill(mask.unsqueeze(-1) == 0, 0)
        x = (x + self.a(x)).masked_fill(mask.unsqueeze(-1) != 0, 0)  # <- SD501
        return (x + self.b(x)).masked_fill(mask.unsqueeze(-1) == 0, 0)
""",
}

RIGHT = {
    "as the docstring says": '''
def attend(q, k, v, mask=None):
    """
    mask: (b, t, s), 0 will be masked out
    """
    scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
    scores = scores.masked_fill(mask == 0, -1e9)
    return torch.bmm(F.softmax(scores, dim=-1), v)
''',
    "numbers of a shape": '''
def attend(q, k, v, mask):
    """
    mask: (b, 1, t): padding mask
    """
    scores = torch.bmm(q, k.transpose(1, 2)).masked_fill(mask, -1e9)
    return torch.bmm(F.softmax(scores, dim=-1), v)
''',
    "a mask of places to fill in, and the loss at them": """
def fill_in(model, x, mask):
    guess = model(x.masked_fill(mask.unsqueeze(-1), 0))
    wrong = ((guess - x) ** 2).mean(-1)
    return (wrong * mask).sum() / mask.sum(), guess.masked_fill(~mask.unsqueeze(-1), 0)
""",
    "padding on the right is hidden": """
def attend(sim, v, hidden):
    hidden = F.pad(hidden, (0, 1), value=True)
    sim = sim.masked_fill(hidden[:, None, :], -1e9)
    return torch.bmm(sim.softmax(dim=-1), v)
""",
    "what was turned round before": """
def attend(sim, v, mask):
    mask = F.pad(~mask, (1, 0), value=True)
    sim = sim.masked_fill(~mask[:, None, :], -1e9)
    return torch.bmm(sim.softmax(dim=-1), v)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD501") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD501") == []


SAID = {
    "shape (b, t), 0 will be masked out": "keep",
    "`mask[i, j]` indicates whether the query at `i` has access to the key at `j`": "keep",
    "selected in `[0, 1]`: 1 for tokens that are **not masked**, 0 for tokens that are **masked**": "keep",
    "1 = keep, 0 = pad": "keep",
    "positions with 0 are masked": "keep",
    "(1 if attend, 0 otherwise)": "keep",
    "True for padding positions": "drop",
    "bool tensor, True means ignore": "drop",
    "1 indicates a padded position": "drop",
    "True values are positions that are not allowed to attend": "drop",
    "0 for real tokens, 1 for pad": "drop",
    "(b, 1, t): padding mask": None,
    "ByteTensor (b, t) or (b, 1, t)": None,
    "(t, t) causal mask": None,
}


@pytest.mark.parametrize("said", SAID)
def test_what_is_said_of_a_mask(said: str) -> None:
    text = f'def attend(x, mask):\n    """Attend.\n\n    x: zeros where padding\n    mask: {said}\n    """\n'
    assert stated_sign(Trace("model.py", text), "attend", "mask") == SAID[said]
