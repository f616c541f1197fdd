"""SD504 fully-masked-row."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.fills import number_of
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, graph, shape_at
from shapedoc.rules.reading.masks import masks
from shapedoc.rules.reading.sinks import Sink, mask_sinks
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.weights import uses, wrong_use
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_JOINS = names("and_ logical_and bitwise_and mul")
_PASSES = SHAPING | names("invert logical_not eq ne bool float")
_MENDS = names("nan_to_num nan_to_num_ masked_fill where isnan mul")


def check(trace: Trace) -> Iterator[Finding]:
    seen: set[Span] = set()
    for sink in mask_sinks(trace):
        if sink.event.span in seen or not _fills_infinity(trace, sink):
            continue
        softmax = _softmax_after(trace, sink)
        if softmax is not None and any(wrong_use(softmax, use) is not None for use in uses(graph(trace), softmax)):
            continue  # the axis is at fault, not the mask
        joined = _outer(trace, sink, softmax) if softmax is not None else None
        if softmax is not None and joined is not None and not _is_mended(trace, softmax):
            seen.add(sink.event.span)
            yield _found(trace, sink, *joined)


def _fills_infinity(trace: Trace, sink: Sink) -> bool:
    """Whether what is hidden becomes -inf, and not a finite number, which gives equal weights and no NaN."""
    if sink.how == "fill":
        return number_of(sink.event.value("value")) == float("-inf")
    if sink.how == "where":
        name = "other" if sink.expects == "keep" else "input"
        return number_of(sink.event.value(name)) == float("-inf")
    return False


def _softmax_after(trace: Trace, sink: Sink) -> Softmax | None:
    g = graph(trace)
    reached = {e.index for e in g.forward(sink.event, lambda e: e.short in KEEPS)}
    return next((s for s in softmaxes(trace) if s.event.index in reached and s.axis is not None), None)


def _outer(trace: Trace, sink: Sink, softmax: Softmax) -> tuple[Event, Operand] | None:
    """Where a padding mask of the queries was joined with the mask: it is 1 along the normalised axis."""
    g, known = graph(trace), masks(trace)
    made, shape = g.producer(sink.mask.value), softmax.shape
    if made is None or shape is None or softmax.axis is None:
        return None
    tail = shape.suffix
    place = next((i - len(tail) for i, a in enumerate(tail) if _became(a, softmax.axis)), None)
    if place is None:
        return None
    for event in g.back(made, lambda e: e.short in _PASSES or e.short in _JOINS):
        operands = tensor_operands(event) if event.short in _JOINS else []
        pairwise = _is_pairwise(g, operands) and _is_turned(g, made, event)
        for operand in operands:
            meaning, axes = known.of(operand.value), shape_at(event, operand)
            padding = meaning is not None and meaning.kind == "padding" and not meaning.additive
            if not pairwise and not (padding and meaning is not None and meaning.sign == "keep"):
                continue
            if axes is None or -place > len(axes.suffix) or axes.suffix[place].dim != ONE:
                continue
            if sum(1 for i in axes.items if not isinstance(i, Axis) or i.dim != ONE) >= 2:
                return event, operand
    return None


def _is_pairwise(g: Graph, operands: list[Operand]) -> bool:
    """Whether one mask is joined with itself, along the queries and along the keys."""
    made = [g.producer(o.value) for o in operands]
    if len(made) != 2 or any(not isinstance(o.value, Tensor) for o in operands):
        return False
    sources = [tensor_operands(e)[0].value if e is not None and e.short in SHAPING else None for e in made]
    return isinstance(sources[0], Tensor) and sources[0] is sources[1]


def _is_turned(g: Graph, made: Event, joined: Event) -> bool:
    """Whether a mask is turned round between the place where it was joined and its use."""
    between = [e for e in g.back(made, lambda e: e is not joined) if e.index > joined.index]
    turns = [e for e in between if e.short in ("invert", "logical_not") or _is_zero(e)]
    return len(turns) % 2 == 1


def _is_zero(event: Event) -> bool:
    return event.short == "eq" and number_of(event.value("other")) == 0


def _became(earlier: Axis, axis: Axis) -> bool:
    return earlier.ids <= axis.ids


def _is_mended(trace: Trace, softmax: Softmax) -> bool:
    """Whether the weights are freed of NaN afterwards."""
    g = graph(trace)
    return any(
        e.short in _MENDS and any(isinstance(o.value, Tensor) for o in e.operands)
        for e in g.forward(softmax.event, lambda e: e.short in SHAPING or e.short in ("dropout", "Dropout.forward"))
    )


def _found(trace: Trace, sink: Sink, joined: Event, queries: Operand) -> Finding:
    text = text_of(trace, queries)
    actual = shape_text(joined, queries.shape)
    return finding(
        trace,
        sink.event,
        joined.span,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"{text} {actual} hides every key from the queries that are padding: their row is -inf, and becomes "
        "NaN",
        tensor=text,
        actual=actual,
        expected="a mask that varies along the keys alone",
        labels=label(sink.event.span, "filled with -inf here") + call_labels(sink.event),
        why="a softmax over -inf alone is 0 / 0; the NaN reaches the loss, or through the next layer every other row",
        notes=("with a finite number such as -1e9 such a row gets equal weights, and no NaN",),
        help="mask the keys alone, and leave padded queries to the mask of the loss",
    )


RULE = Rule(
    code="SD504",
    name="fully-masked-row",
    severity="warning",
    summary="A mask of the queries with -inf leaves rows without any key.",
    what="Looks for a padding mask of the queries, constant along the normalised axis, that is joined with the mask of "
    "the keys and filled with -inf, where nothing replaces the NaN afterwards.",
    why="A padded query then has no key left: softmax of a row of -inf is NaN, and so is every gradient that passes "
    "it.",
    instead="Mask the keys alone. What a padded query reads is of no matter as long as the loss leaves it out.",
    source="IEEE 754: 0 / 0; PyTorch documentation, torch.softmax.",
    bad=(
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(x, tokens, pad):
    keep = tokens != pad
    mask = keep.unsqueeze(1) & keep.unsqueeze(2)  # <- SD504
    scores = torch.bmm(x, x.transpose(1, 2))
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.bmm(F.softmax(scores, dim=-1), x)


torch.manual_seed(0)
tokens = torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]])
result = attend(torch.randn(2, 4, 5), tokens, 0)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(x, tokens, pad):
    keep = tokens != pad
    mask = keep.unsqueeze(1)
    scores = torch.bmm(x, x.transpose(1, 2))
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.bmm(F.softmax(scores, dim=-1), x)


torch.manual_seed(0)
tokens = torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]])
result = attend(torch.randn(2, 4, 5), tokens, 0)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: masks the keys alone.",
    kind="silent",
)
