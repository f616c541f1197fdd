"""What sizes are called that have no name."""

from __future__ import annotations

import pytest

from shapedoc.core.spelling import Spelling
from shapedoc.core.value import Tensor
from shapedoc.engine.analysis import trace
from shapedoc.engine.request import Settings


def _shown(body: str) -> str:
    """The shape of the last tensor that a function makes of `x`, `words` and `n`."""
    text = f"import torch\nimport numpy as np\n\ndef f(x, words, n):\n    {body}\n"
    seen = trace("a.py", text, Settings())
    _, start, end, sizes = seen.entries[-1]
    made = [event for event in seen.events[start:end] if isinstance(event.result, Tensor)][-1]
    assert isinstance(made.result, Tensor)
    spelling = Spelling(seen, start, end, sizes)
    shown = spelling.show_shape(made.result.shape)
    assert spelling.tells(sizes.shape(made.result.shape)) == ("?" not in shown)
    return shown


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("torch.zeros(len(words), max(words))", "(len(words), max(words))"),
        ("np.full((len(words),), 3)", "(len(words),)"),
        ("torch.arange(0, len(words))", "(len(words),)"),
        ("torch.arange(len(words), 9)", "(-? + 9,)"),
        ("torch.tensor([float(w) for w in words])", "(?,)"),
        ("torch.ones(3, 4).nonzero()", "(?, 2)"),
        ("x.permute(0, 2, 1)", "(x.shape[0], x.shape[2], x.shape[1])"),
        ("x.permute(0, 2, 1).reshape(-1)", "(x.shape[0]*x.shape[1]*x.shape[2],)"),
        ("torch.zeros(len(words) + n, 2).flatten()", "(2*(len(words) + n),)"),
        ("torch.zeros(x.view(-1, 3).shape)", "(?, 3)"),
    ],
)
def test_a_size_is_called_as_it_is_written(body: str, shape: str) -> None:
    assert _shown(body) == shape


def test_the_length_of_a_list_is_called_after_it() -> None:
    assert _shown("xs = [float(w) for w in words]; torch.tensor(xs)") == "(len(xs),)"


def test_what_has_a_name_keeps_it() -> None:
    assert _shown("b, t = x.shape; x.mT") == "(t, b)"
