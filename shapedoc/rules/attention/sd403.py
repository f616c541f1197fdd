"""SD403 implicit-softmax-axis."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.shape import Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Operand, Trace
from shapedoc.core.value import Layer, NoneValue
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.weights import is_right, uses, wrong_use
from shapedoc.rules.reading.wording import call_labels, finding, label, named, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_TURNS = frozenset(("transpose", "permute", "movedim", "moveaxis", "swapaxes", "swapdims"))
_TAKES_DIM = frozenset(("softmax", "Softmax.forward"))
_LOGS = frozenset(("log_softmax", "LogSoftmax.forward"))
_AS_IT_IS = frozenset(("contiguous", "clone", "dropout", "Dropout.forward"))


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for span, (function, operand) in trace.handed_back.items():
        rank = operand.shape.rank if operand.shape is not None else None
        if "softmax" in function.lower() and "log" not in function.lower() and rank is not None and rank >= 3:
            yield _unchanged(trace, span, function, operand, rank)
    for softmax in softmaxes(trace):
        shape = softmax.shape
        if _is_bare(softmax) and (ways := _of_two_ranks(g, softmax)) is not None:
            yield _either(trace, g, softmax, *ways)
        if not softmax.implicit or softmax.axis is None or shape is None or shape.rank is None:
            continue
        if _brought_to_the_front(g, softmax):
            continue
        found = list(uses(g, softmax))
        if any(is_right(u, softmax.axis) for u in found):
            continue
        if shape.rank == 3 or any(wrong_use(softmax, u) is not None for u in found):
            yield _found(trace, g, softmax, shape.rank)
    for softmax in _of_logs(trace):
        if not _brought_to_the_front(g, softmax):
            yield _found(trace, g, softmax, 3)


def _of_logs(trace: Trace) -> Iterator[Softmax]:
    """The log-softmaxes of three axes that name none, of scores for features: one for each is what a map gave."""
    for event in trace.events:
        if event.short not in _LOGS or not any(p.kind == "implicit-softmax-axis" for p in event.problems):
            continue
        scores = next(iter(tensor_operands(event)), None)
        shape = shape_at(event, scores) if scores is not None else None
        if scores is None or shape is None or shape.rank != 3 or event.sizes is None:
            continue
        first, _, last = shape.axes
        if event.sizes.role(last, "feature") is None or event.sizes.role(first, "feature") is not None:
            continue
        layer = event.value("self")
        built = layer if isinstance(layer, Layer) else None
        yield Softmax(event, scores, first, event.span, len(event.calls), "log_softmax", True, built)


def _unchanged(trace: Trace, span: Span, function: str, operand: Operand, rank: int) -> Finding:
    """A softmax of the author's that knows fewer axes than it is given, and lets the scores through."""
    text = text_of(trace, operand)
    return Finding(
        RULE.code,
        RULE.name,
        "error",
        trace.path,
        span,
        f"`{function}` gives {rank}-D {text} back as it is: nothing is normalised",
        tensor=text,
        why="it asks how many axes there are, and has no way for so many",
        causes=("scores that a softmax gives back",),
        help="normalise the axis of the keys, however many stand before it: `axis=-1, keepdims=True`",
    )


def _is_bare(softmax: Softmax) -> bool:
    """Whether no axis is given to a softmax of torch, whose scores have a number of axes that is not known."""
    event = softmax.event
    given = softmax.layer.config.get("dim") if softmax.layer is not None else event.value("dim")
    return event.op.startswith("torch.") and isinstance(given, NoneValue | None) and event.short in _TAKES_DIM


def _of_two_ranks(g: Graph, softmax: Softmax) -> tuple[Operand, Operand] | None:
    """The scores of two branches, matrices on one way and with three axes on the other, whose last axis is the same."""
    met = g.producer(softmax.scores.value)
    if met is None or met.short != "phi" or len(met.operands) != 2:
        return None
    two, three = sorted(met.operands, key=lambda o: len(o.shape.items) if o.shape is not None else 0)
    flat, deep = shape_at(met, two), shape_at(met, three)
    if flat is None or deep is None or flat.rank != 2 or deep.rank != 3:
        return None
    return (two, three) if flat.axes[-1].same(deep.axes[-1]) else None


def _either(trace: Trace, g: Graph, softmax: Softmax, two: Operand, three: Operand) -> Finding:
    event = softmax.event
    name = named(trace, softmax.scores)
    flat, deep = shape_text(event, two.shape), shape_text(event, three.shape)
    made = g.producer(three.value)
    return finding(
        trace,
        event,
        softmax.place,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"softmax without `dim` takes the last axis of {name} {flat} and the first of {name} {deep}",
        tensor=name,
        actual=deep,
        labels=(label(made.span, f"one branch gives {deep}") if made is not None else ()) + call_labels(event),
        why="without `dim`, torch takes axis 0 of a tensor with three axes, and axis 1 of a matrix: what is normalised "
        "depends on the branch",
        help="say which axis: `dim=-1` if the keys come last",
    )


def _brought_to_the_front(g: Graph, softmax: Softmax) -> bool:
    """Whether the scores are turned just before, and the weights turned back: then axis 0 is the one that was meant."""
    turned = g.producer(softmax.scores.value)
    while turned is not None and turned.short in _AS_IT_IS:
        turned = g.main_source(turned)
    if turned is None or turned.short not in _TURNS or not turned.operands:
        return False
    before = shape_at(turned, turned.operands[0])
    back = (e for e in g.forward(softmax.event, lambda e: e.short in _AS_IT_IS) if e.short in _TURNS)
    return before is not None and any(_alike(before, result_shape(event)) for event in back)


def _alike(one: Shape, other: Shape | None) -> bool:
    """Whether two shapes have the same axes in the same order."""
    if other is None or one.rank is None or one.rank != other.rank:
        return False
    return all(a.same(b) for a, b in zip(one.axes, other.axes, strict=True))


def _kind(softmax: Softmax) -> str:
    return "log_softmax" if softmax.event.short in _LOGS else "softmax"


def _found(trace: Trace, g: Graph, softmax: Softmax, rank: int) -> Finding:
    event = softmax.event
    name, shape = named(trace, softmax.scores), shape_text(event, softmax.scores.shape)
    taken = 0 if rank in (0, 1, 3) else 1
    size = event.sizes.show(softmax.axis.dim) if event.sizes is not None and softmax.axis is not None else ""
    which = f"axis {taken}, `{size}`" if size and "?" not in size else f"axis {taken}"
    return finding(
        trace,
        event,
        softmax.place,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{_kind(softmax)} without `dim` on {rank}-D {name} {shape} takes {which}",
        tensor=name,
        actual=shape,
        labels=(label(softmax.layer.span, "built without `dim`") if softmax.layer is not None else ())
        + label(event.span, f"{name} is {shape}")
        + call_labels(event),
        why="without `dim`, torch takes axis 0 of a tensor with 0, 1 or 3 axes and axis 1 of any other, and only warns",
        help="say which axis: `dim=-1` if the keys come last",
    )


RULE = Rule(
    code="SD403",
    name="implicit-softmax-axis",
    severity="error",
    summary="A softmax without `dim` on a tensor with three axes normalises the first one.",
    what="Looks for `F.softmax(x)` and `nn.Softmax()` without `dim` whose input has three axes, or whose weights are "
    "then summed over another axis than the one that torch picks; whose input is a matrix in one branch and has three "
    "axes in another; and for a function called softmax that gives scores with three axes or more back as they are, "
    "since it knows one axis and two only.",
    why="The axis depends on the number of axes: the last one of a matrix, the first one, usually the batch, of a "
    "tensor with three. Adding a batch or a head axis changes silently what is normalised.",
    instead="Give the axis of the keys as `dim`.",
    source="PyTorch documentation, torch.nn.functional.softmax, the deprecated default of `dim`.",
    bad=(
        Example(
            """\
import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")


def attend(query, memory):
    scores = torch.bmm(query, memory.transpose(1, 2))
    weights = F.softmax(scores)  # <- SD403
    return torch.bmm(weights, memory)


torch.manual_seed(0)
result = attend(torch.randn(2, 3, 7), torch.randn(2, 5, 7))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(query, memory):
    scores = torch.bmm(query, memory.transpose(1, 2))
    weights = F.softmax(scores, dim=-1)
    return torch.bmm(weights, memory)


torch.manual_seed(0)
result = attend(torch.randn(2, 3, 7), torch.randn(2, 5, 7))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: names the axis.",
    kind="silent",
)
