"""SD406 softmax-twice."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import SliceValue
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.encoders import index_parts, is_whole
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.sinks import is_lowest
from shapedoc.rules.reading.wording import call_labels, finding, label
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_SOFTMAX = names("softmax Softmax.forward")
_LOGS = names("log_softmax LogSoftmax.forward")
_LOSSES = names("cross_entropy CrossEntropyLoss.forward")
_LIKELIHOODS = names("nll_loss NLLLoss.forward")
_CASTS = names("float type to bool byte long int eq ne logical_not invert")
_ON = SHAPING - {"phi", "stack", "getitem"}


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for event in trace.events:
        if event.short in _LIKELIHOODS:
            made = _before(g, event)
            if made is not None:
                yield _no_log(trace, made, event)
        elif event.short in _LOSSES or event.short in _SOFTMAX | _LOGS:
            first = _before(g, event)
            if first is not None:
                yield _found(trace, first, event)


def _before(g: Graph, event: Event) -> Event | None:
    """The softmax that made the very input of this one, its layout changed or masked at most."""
    made = g.producer(event.value("input"))
    for _ in range(40):
        if made is None or made.short in _SOFTMAX:
            return made
        if made.short in _ON or made.short == "masked_fill" or _is_cut(made):
            made = g.main_source(made)
        elif made.short in ("add", "mul") and event.short in _SOFTMAX:
            masked = [o for o in tensor_operands(made) if not _is_mask(g, made, o)]
            made = g.producer(masked[0].value) if len(masked) == 1 else None
        else:
            return None
    return None


def _is_cut(event: Event) -> bool:
    """Whether steps are cut off, as from ``scores[:, :-1]``: what is left are the same rows."""
    parts = index_parts(event.value("index")) if event.short == "getitem" else None
    return bool(parts) and all(isinstance(p, SliceValue) for p in parts or ()) and is_whole((parts or ())[-1])


def _is_mask(g: Graph, event: Event, operand: Operand) -> bool:
    """Whether a term or a factor is made of a mask alone: ``mask``, ``(1 - mask) * -1e30``."""
    made = g.producer(operand.value)
    if event.short == "add":
        return made is not None and made.short == "mul" and any(is_lowest(g, o) for o in made.operands)
    behind = list(g.back(made, lambda e: e.short in SHAPING or e.short in _CASTS)) if made is not None else []
    given = [e for e in behind if not g.inputs(e)]
    return made is None or (bool(given) and all(e.short in SHAPING | _CASTS for e in behind))


def _no_log(trace: Trace, first: Event, loss: Event) -> Finding:
    what = "NLLLoss" if loss.short.startswith("NLL") else "`nll_loss`"
    name = first.target or trace.source(first.span) if not first.span.path else "the input"
    return finding(
        trace,
        first,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{name} is a softmax, and {what} takes its logarithm",
        tensor=name,
        labels=label(loss.span, f"{what} takes log-probabilities") + call_labels(loss),
        why="of a probability it gives back the negative: the loss lies between -1 and 0, and its gradient is as small "
        "for a confident mistake as for a right answer",
        help="`log_softmax`, or the scores into `CrossEntropyLoss`",
    )


def _found(trace: Trace, first: Event, second: Event) -> Finding:
    loss = second.short in _LOSSES
    what = "CrossEntropyLoss" if second.short.startswith("Cross") else f"`{second.short.removesuffix('.forward')}`"
    again = second.span.path or first.function == second.function
    taken = next((c.span for c in second.calls if c not in first.calls), None) if again else None
    place = taken if taken is not None and not taken.path else None
    name = first.target or trace.source(first.span) if not first.span.path else "the input"
    return finding(
        trace,
        first if loss else second,
        None if loss else place,
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
    "`log_softmax` or another softmax, masked at most in between; and one that goes into `NLLLoss`, which takes "
    "the logarithm.",
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
