"""SD406 softmax-twice."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Trace
from shapedoc.rules.contractions import names
from shapedoc.rules.flow import SHAPING, Graph, graph
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.wording import call_labels, finding, label

__all__ = ["RULE"]

_SOFTMAX = names("softmax Softmax.forward")
_LOGS = names("log_softmax LogSoftmax.forward")
_LOSSES = names("cross_entropy CrossEntropyLoss.forward")
_ON = SHAPING - {"phi", "stack", "getitem"}


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for event in trace.events:
        if event.short in _LOSSES or event.short in _SOFTMAX | _LOGS:
            first = _before(g, event)
            if first is not None:
                yield _found(trace, first, event)


def _before(g: Graph, event: Event) -> Event | None:
    """The softmax that made the very input of this one, its layout changed at most."""
    source = g.producer(event.value("input"))
    made = g.origin(source, _ON) if source is not None else None
    return made if made is not None and made.short in _SOFTMAX else None


def _found(trace: Trace, first: Event, second: Event) -> Finding:
    loss = second.short in _LOSSES
    what = "CrossEntropyLoss" if second.short.startswith("Cross") else f"`{second.short.removesuffix('.forward')}`"
    name = first.target or trace.source(first.span) if not first.span.path else "the input"
    return finding(
        trace,
        first if loss else second,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{name} is a softmax, and {what} applies another one",
        tensor=name,
        labels=label((second if loss else first).span, f"{what} takes scores" if loss else "the first softmax")
        + call_labels(second),
        why="a softmax of probabilities is nearly uniform: with n classes no probability can pass e / (e + n - 1), and "
        "the gradient of a confident mistake vanishes",
        help="give the loss the scores, without the softmax" if loss else "leave one of the two out",
    )


RULE = Rule(
    code="SD406",
    name="softmax-twice",
    severity="error",
    summary="A softmax is applied to what a softmax has made already, as cross entropy does.",
    what="Looks for a softmax whose result goes, laid out anew at most, into `CrossEntropyLoss`, `F.cross_entropy`, "
    "`log_softmax` or another softmax.",
    why="Cross entropy takes scores and applies log-softmax itself. Fed probabilities, the loss can hardly tell right "
    "from wrong, and training stalls at a loss that never comes near 0.",
    instead="Return the scores from the model; take the softmax where probabilities are shown.",
    source="PyTorch documentation, torch.nn.CrossEntropyLoss: the input contains the unnormalized logits.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self, d_h, n_classes):
        super().__init__()
        self.out = nn.Linear(d_h, n_classes)

    def forward(self, context):
        return F.softmax(self.out(context), dim=-1)  # <- SD406


torch.manual_seed(0)
model, criterion = Classifier(7, 4), nn.CrossEntropyLoss()
result = criterion(model(torch.randn(2, 7)), torch.tensor([1, 3]))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self, d_h, n_classes):
        super().__init__()
        self.out = nn.Linear(d_h, n_classes)

    def forward(self, context):
        return self.out(context)


torch.manual_seed(0)
model, criterion = Classifier(7, 4), nn.CrossEntropyLoss()
result = criterion(model(torch.randn(2, 7)), torch.tensor([1, 3]))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: leaves one softmax out.",
    kind="silent",
)
