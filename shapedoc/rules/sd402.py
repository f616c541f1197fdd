"""SD402 softmax-over-singleton."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Layer, Seq
from shapedoc.rules.contractions import PRODUCTS, literal, names, tensor_operands
from shapedoc.rules.flow import KEEPS, Graph, axis_at, graph, result_shape
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.single_keys import single_keys
from shapedoc.rules.softmaxes import Softmax, made_axis, softmaxes
from shapedoc.rules.wording import call_labels, finding, label, named, shape_text

__all__ = ["RULE", "maker_of_one"]

# What puts an axis of size 1 where the author says it.
_ASKED = names("unsqueeze expand_dims getitem sum mean max amax view reshape")
_LITERAL_ONE = re.compile(r"[(,\[]\s*1\s*[,)\]]")
_CREATED = names("randn rand zeros ones empty normal standard_normal uniform random")
_JOINS = names("cat concat concatenate")
_MAPS = names("Linear.forward linear Conv1d.forward Conv2d.forward")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for softmax in softmaxes(trace):
        if softmax.axis is None or softmax.axis.dim != ONE or softmax.kind == "sum":
            continue
        maker = maker_of_one(g, softmax)
        if maker is not None:
            yield _found(trace, softmax, maker)
    yield from single_keys(trace, RULE.code, RULE.name)


def maker_of_one(g: Graph, softmax: Softmax) -> Event | None:
    """The event that made the axis with size 1 on purpose, in the function of the softmax or one that it calls.

    A batch or a length that happens to be 1, and a single key that a caller passes, are none.
    """
    event = made_axis(g, softmax)
    if _joined_of_one(g, softmax) or (event is not None and _of_a_branch(event, softmax)):
        return None
    if event is not None and _of_a_parameter(g.trace, event):
        return event
    if event is None or event.calls[: softmax.depth] != softmax.event.calls[: softmax.depth]:
        return None
    shape = result_shape(event)
    last = axis_at(shape, -1)
    if event.short in _MAPS:
        layer = event.value("self")
        wanted = (
            layer.config.get("out_features", layer.config.get("out_channels")) if isinstance(layer, Layer) else None
        )
        sure = literal(wanted) == 1 and _written_as_one(g.trace, layer)
        return event if sure and last is not None and last.dim == ONE else None
    if event.short in _ASKED and _asks(event, softmax):
        sized = event.short in ("view", "reshape")
        return event if not sized or _LITERAL_ONE.search(g.trace.source(event.span)) else None
    return event if _stated_as_one(g, event, softmax) else None


def _of_a_branch(event: Event, softmax: Softmax) -> bool:
    """Whether a branch gave an axis to what has none, and the softmax is one for all: ``if k.dim() == 2``."""
    together = event.function == softmax.event.function and len(event.calls) == len(softmax.event.calls)
    return together and not set(event.branch) <= set(softmax.event.branch)


def _joined_of_one(g: Graph, softmax: Softmax) -> bool:
    """Whether the scores were joined of a list that holds one part: as many as a setting says, here one."""
    event = g.producer(softmax.scores.value)
    for source in g.back(event, lambda e: e.short in KEEPS or e.short in _JOINS) if event is not None else ():
        parts = source.value("tensors") if source.short in _JOINS else None
        if isinstance(parts, Seq) and parts.rest is None and len(parts.items) == 1:
            return True
    return False


def _asks(event: Event, softmax: Softmax) -> bool:
    """Whether the event itself asked for the axis, whatever it was joined with later."""
    axis, made = softmax.axis, result_shape(event)
    return axis is not None and made is not None and any(a.visible and a.ids <= axis.ids for a in made.axes)


def _stated_as_one(g: Graph, event: Event, softmax: Softmax) -> bool:
    """Whether the axis is one of a parameter that is stated as 1: a scorer's vector as a column, ``v: (d, 1)``."""
    axis = softmax.axis
    if axis is None or not axis.visible or event.short not in PRODUCTS:
        return False
    inputs = [o for o in tensor_operands(event) if g.producer(o.value) is None]
    return any(a.visible and a.ids <= axis.ids for o in inputs if o.shape is not None for a in o.shape.axes)


def _of_a_parameter(trace: Trace, event: Event) -> bool:
    """Whether a constructor draws a vector of scores, (d, 1), so that what it multiplies has one score a row."""
    drawn = event.short in _CREATED and event.function.endswith("__init__")
    return drawn and _LITERAL_ONE.search(trace.source(event.span)) is not None


def _written_as_one(trace: Trace, layer: object) -> bool:
    """Whether the layer's size is a 1 in the source and no parameter that happens to be 1."""
    if not isinstance(layer, Layer) or not 0 <= layer.event < len(trace.events):
        return False
    built = trace.events[layer.event]
    operand = built.operand("out_features") or built.operand("out_channels")
    return operand is not None and operand.span is not None and trace.source(operand.span).strip() == "1"


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
