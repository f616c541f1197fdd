"""SD402 softmax-over-singleton."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Trace
from shapedoc.rules.attention.ones import maker_of_one
from shapedoc.rules.attention.single_keys import single_keys
from shapedoc.rules.reading.flow import graph
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.wording import call_labels, finding, label, named, shape_text
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for softmax in softmaxes(trace):
        if softmax.axis is None or softmax.axis.dim != ONE or softmax.kind == "sum":
            continue
        maker = maker_of_one(g, softmax)
        if maker is not None:
            yield _found(trace, softmax, maker)
    yield from single_keys(trace, RULE.code, RULE.name)


def _found(trace: Trace, softmax: Softmax, maker: Event) -> Finding:
    event = softmax.event
    name, shape = named(trace, softmax.scores), shape_text(event, softmax.scores.shape)
    known = softmax.shape
    others = (
        [i for i, a in enumerate(known.axes) if a.dim != ONE] if known is not None and known.rank is not None else []
    )
    step = f"normalise the axis of the keys: `dim={others[-1] - len(known.axes)}`" if others and known else ""
    return finding(
        trace,
        event,
        softmax.place,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"softmax over an axis of size 1 of {name} {shape}: every weight is 1",
        tensor=name,
        actual=shape,
        labels=label(maker.span, "the axis of size 1 is made here") + call_labels(event),
        why="a softmax shares 1 among the elements of its axis; one element gets all of it, whatever its score is",
        notes=("no gradient reaches the scores",),
        help=step or "squeeze the axis, and normalise the one of the keys",
    )


RULE = Rule(
    code="SD402",
    name="softmax-over-singleton",
    severity="error",
    summary="The softmax normalises an axis of size 1, so that all weights are 1.",
    what="Looks for softmaxes over an axis that has size 1 because the code asks for it: the output of `Linear(d, 1)` "
    "or of a parameter `(d, 1)` that was not squeezed, an `unsqueeze`, a `keepdim`. So does attention by a module or a "
    "function that is given a single key, made by `unsqueeze`, and other queries. A batch or a sequence that "
    "happens to have one element is not reported.",
    why="Every weight is 1, the context is a plain sum, and no gradient reaches the scorer: training goes on and "
    "attention never learns.",
    instead="Normalise the axis of the keys, or `squeeze(-1)` the scores first.",
    source="Bahdanau et al. 2015, equation 6; PyTorch documentation, torch.softmax.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Pooling(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.score = nn.Linear(d_h, 1)

    def forward(self, memory):
        batch_size, T_enc, d_h = memory.shape
        weights = torch.softmax(self.score(memory), dim=-1)  # <- SD402
        return (weights * memory).sum(dim=1)


torch.manual_seed(0)
result = Pooling(7)(torch.randn(2, 5, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Pooling(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.score = nn.Linear(d_h, 1)

    def forward(self, memory):
        batch_size, T_enc, d_h = memory.shape
        weights = torch.softmax(self.score(memory), dim=1)
        return (weights * memory).sum(dim=1)


torch.manual_seed(0)
result = Pooling(7)(torch.randn(2, 5, 7))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: names another axis.",
    kind="silent",
)
