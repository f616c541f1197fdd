"""SD502 causal-mask-off-by-one."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import result_shape
from shapedoc.rules.reading.masks import Meaning, Triangle, masks
from shapedoc.rules.reading.sinks import Sink, mask_sinks
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_WRONG = {
    Triangle("lower", 1): "every position sees the one after it",
    Triangle("lower", -1): "no position sees itself, and the first sees nothing",
    Triangle("upper", 0): "every position sees itself and what comes after it, and not what came before",
}


def check(trace: Trace) -> Iterator[Finding]:
    applied = list(_applied(trace))
    right = {sink.event.span for sink, _, kept in applied if kept == Triangle("lower", 0)}
    for sink, meaning, kept in applied:
        # Where another answer of the caller gives the right one, the author lets him choose.
        if kept in _WRONG and _is_square(meaning.made) and sink.event.span not in right:
            yield _found(trace, sink.event, text_of(trace, sink.mask), meaning, kept)
    for event in trace.events:
        if event.short in ("and_", "logical_and", "bitwise_and", "mul"):
            yield from _joined(trace, event)


def _applied(trace: Trace) -> Iterator[tuple[Sink, Meaning, Triangle]]:
    """Where causal masks are applied, what they mean, and the region that they keep."""
    known = masks(trace)
    for sink in mask_sinks(trace):
        meaning = known.of(sink.mask.value)
        if meaning is None or meaning.triangle is None or (sink.how == "add" and not meaning.additive):
            continue
        expects = "drop" if meaning.additive else sink.expects
        yield sink, meaning, meaning.triangle if expects == "keep" else meaning.triangle.complement()


def _joined(trace: Trace, event: Event) -> Iterator[Finding]:
    """A triangle that is joined with a mask of what to keep."""
    known = masks(trace)
    operands = tensor_operands(event)
    if len(operands) != 2:
        return
    for operand, other in (operands, operands[::-1]):
        meaning, beside = known.of(operand.value), known.of(other.value)
        if meaning is None or beside is None or meaning.triangle is None or meaning.additive or beside.triangle:
            continue
        if beside.sign == "keep" and not beside.additive and meaning.triangle in _WRONG and _is_square(meaning.made):
            yield _found(trace, event, text_of(trace, operand), meaning, meaning.triangle)


def _is_square(event: Event) -> bool:
    """Whether rows and columns are one sequence: between two sequences a triangle may be shifted on purpose."""
    if event.short.endswith("_indices"):
        sides = [event.value(name) for name in ("row", "col")]
        dims = [v.dim for v in sides if isinstance(v, Int)]
        return len(dims) == 2 and event.sizes is not None and event.sizes.compare(*dims).kind is Kind.ALWAYS
    shape = result_shape(event)
    if shape is None or len(shape.suffix) < 2 or event.sizes is None:
        return False
    rows, columns = shape.suffix[-2:]
    return event.sizes.compare(rows.dim, columns.dim).kind is Kind.ALWAYS


def _found(trace: Trace, event: Event, text: str, meaning: Meaning, kept: Triangle) -> Finding:
    made = meaning.made
    region = meaning.triangle
    assert region is not None
    right = Triangle("lower", 0) if meaning.sign == "keep" else Triangle("upper", 1)
    if kept == Triangle("upper", 0) and meaning.triangle == kept:
        right = Triangle("lower", 0)
    shape = result_shape(made) or Shape.unknown()
    return finding(
        trace,
        event,
        made.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"with this causal mask {_WRONG[kept]}",
        tensor=made.target or text if text.startswith(":") else text,
        actual=f"{shape_text(made, shape)}, true {_region(region)}",
        expected=f"true {_region(right)}",
        labels=label(event.span, f"{text} is applied here") + call_labels(event),
        why="position t may look at the positions up to t, itself included: one more is the answer, one less "
        "leaves the first row without any key",
        help=_help(made, right),
    )


def _region(region: Triangle) -> str:
    where = "below" if region.side == "lower" else "above"
    if region.offset == 0:
        return f"on and {where} the diagonal"
    inner = region.offset == (1 if region.side == "upper" else -1)
    return f"{where} the diagonal" if inner else f"{where} the diagonal, shifted by {region.offset}"


def _help(made: Event, right: Triangle) -> str:
    if made.short.endswith("_indices"):
        return (
            f"{made.short}(..., offset={right.offset})" if right.side == "upper" else "use triu_indices(..., offset=1)"
        )
    if made.short not in ("tril", "triu", "tri"):
        sign = ">=" if right.side == "lower" else "<"
        return f"compare as `rows {sign} columns`"
    keyword = "k" if made.op.startswith("numpy") else "diagonal"
    name = "tril" if right.side == "lower" else "triu"
    return f"{name}(..., {keyword}={right.offset})" if right.offset else f"{name}(...)"


RULE = Rule(
    code="SD502",
    name="causal-mask-off-by-one",
    severity="error",
    summary="A causal mask hides the present, shows the next position, or has upper and lower exchanged.",
    what="Follows triangles (`tril`, `triu`, `rows >= columns`) through `~`, `== 0`, casts and transposes to where "
    "they mask scores, and works out which keys each query may see. Only square masks of one sequence are judged.",
    why="A model that sees the next token learns to copy it: training looks perfect and generation fails. A model "
    "that does not see the present has no key at all in its first row, which becomes NaN.",
    instead="Keep `torch.tril(torch.ones(T, T))`, or fill where `torch.triu(torch.ones(T, T), diagonal=1)`.",
    source="Vaswani et al. 2017, section 3.2.3; PyTorch documentation, torch.triu.",
    bad=(
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(query, key, value):
    T, d_head = query.shape[-2:]
    future = torch.triu(torch.ones(T, T), diagonal=0).bool()  # <- SD502
    scores = query @ key.transpose(-2, -1) / d_head**0.5
    scores = scores.masked_fill(future, float("-inf"))
    return F.softmax(scores, dim=-1) @ value


x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
result = attend(x, x, x)
"""
        ),
        Example(
            """\
import numpy as np


def attend(query, key, value):
    T, d_k = query.shape
    seen = np.tril(np.ones((T, T)), k=1).astype(bool)  # <- SD502
    scores = np.where(seen, query @ key.T / np.sqrt(d_k), -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ value


x = np.random.default_rng(0).normal(size=(5, 6))
result = attend(x, x, x)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(query, key, value):
    T, d_head = query.shape[-2:]
    future = torch.triu(torch.ones(T, T), diagonal=1).bool()
    scores = query @ key.transpose(-2, -1) / d_head**0.5
    scores = scores.masked_fill(future, float("-inf"))
    return F.softmax(scores, dim=-1) @ value


x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
result = attend(x, x, x)
"""
        ),
        Example(
            """\
import numpy as np


def attend(query, key, value):
    T, d_k = query.shape
    seen = np.tril(np.ones((T, T))).astype(bool)
    scores = np.where(seen, query @ key.T / np.sqrt(d_k), -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ value


x = np.random.default_rng(0).normal(size=(5, 6))
result = attend(x, x, x)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: moves the diagonal, or takes the other side.",
    kind="silent",
)
