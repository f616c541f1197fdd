"""What findings call things by: as the author wrote it, in another file too, and with a step that helps."""

from __future__ import annotations

from pathlib import Path

from shapedoc.core.finding import Finding
from shapedoc.core.quotients import readable
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from shapedoc.rules.reading.orders import pair_to_join

CALLER = """\
import torch
from attention import Weighted


def run(layer_size):
    weighted = Weighted(layer_size)
    return weighted(torch.randn(4, 7, layer_size))
"""

WEIGHTED = """\
import torch
import torch.nn as nn


class Weighted(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Linear(d, 1)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=-1)
        return x.transpose(1, 2).bmm(weights).squeeze(2)
"""

GRADIENTS = '''\
import numpy as np


def skipgram(center, words, vectors, score):
    """Gradients of a word's loss.

    Return:
    loss -- the loss
    gradCenter -- the gradient with respect to the center word
                  in shape (word vector length, )
    """
    loss, gradients = 0.0, np.zeros((5, 3))
    for word in words:
        part, own = score(center, word, vectors)
        loss += part
        gradients[center] += own
    return loss, gradients
'''


def _found(text: str, *roots: str, path: str = "model.py") -> list[Finding]:
    return [f for f in analyse(path, text, Settings(roots=roots)).findings if f.severity != "note"]


def test_what_stands_in_another_file_is_told_as_it_is_written_there(tmp_path: Path) -> None:
    (tmp_path / "attention.py").write_text(WEIGHTED)
    place = tmp_path / "run.py"
    place.write_text(CALLER)
    told = [f.message for f in _found(CALLER, str(tmp_path), path=str(place))]
    assert told
    assert not any("`input`" in message for message in told)
    assert any("self.score(x)" in message for message in told)


def test_heads_are_brought_to_their_features_where_the_batch_is_not_known() -> None:
    sizes = Sizes()
    batch, heads, steps, width = (sizes.fresh(name) for name in ("B", "H", "T", "d"))
    before = Shape(tuple(Axis(size) for size in (batch, heads, steps, width)))
    assert pair_to_join(sizes, before, Shape((Run(), Axis(heads * width)))) == (1, 2)
    assert pair_to_join(sizes, before, Shape((Run(), Axis(batch * heads)))) is None


def test_the_entry_of_a_docstring_is_told_by_its_name() -> None:
    (found,) = _found(GRADIENTS)
    assert found.code == "SD701"
    assert "`gradCenter`" in found.message


def test_a_nest_of_quotients_is_not_spelled() -> None:
    assert readable("d_model//n_heads//2") == "d_model//n_heads//2"
    assert readable("2*h*((((a*b*l)//(2*h))//l)//(2*h))") == "?"
