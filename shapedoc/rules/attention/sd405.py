"""SD405 wrong-score-scale."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import NoneValue
from shapedoc.rules.attention.scaled_dot import is_scaled_dot_product, unread_softmaxes
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import Graph, graph
from shapedoc.rules.reading.scales import Factor, Scaled, is_of_heads, scaled_scores, side, total
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.wording import call_labels, finding, label, named, severity_of, text_of
from shapedoc.rules.reading.written import assigned_name, is_left_at_one, place_of_scale
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_HALF = Fraction(1, 2)


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    made = (*softmaxes(trace), *unread_softmaxes(trace))
    found = [(s, scaled_scores(g, s.scores)) for s in made if s.kind != "sum" and s.event.sizes is not None]
    judged = [(s, scaled) for s, scaled in found if scaled is not None and not any(o.normed for o in scaled.sides)]
    scaling = {_class_of(scaled) for softmax, scaled in judged if _is_scaled(softmax, scaled)} - {""}
    for softmax, scaled in judged:
        yield from _judged(trace, g, softmax, scaled, like=_class_of(scaled) in scaling)
    for event in trace.events:
        if event.short == "scaled_dot_product_attention":
            yield from _fused(trace, g, event)


def _class_of(scaled: Scaled) -> str:
    """The class that a product of query and key stands in."""
    owner, _, method = scaled.product.event.function.rpartition(".")
    return owner if method else ""


def _is_scaled(softmax: Softmax, scaled: Scaled) -> bool:
    """Whether scores are divided by the root of the size that the product sums over."""
    sizes = softmax.event.sizes
    if scaled.unknown or sizes is None or len(scaled.product.summed) != 1:
        return False
    return total(scaled.factors, sizes)[0] == {sizes.resolve(scaled.product.summed[0].dim): -_HALF}


def _judged(trace: Trace, g: Graph, softmax: Softmax, scaled: Scaled, *, like: bool) -> Iterator[Finding]:
    """What is wrong with a scale; `like`: other scores of the same class have the right one."""
    sizes = softmax.event.sizes
    assert sizes is not None
    width = ONE
    for axis in scaled.product.summed:
        width = width * sizes.resolve(axis.dim)
    powers, coefficient = total(scaled.factors, sizes)
    if (scaled.lost or not scaled.unknown) and not powers and coefficient == 1.0:
        yield from _unscaled(trace, g, softmax, scaled, width, like=like)
    elif scaled.unknown:
        return
    elif len(powers) == 1:
        ((size, exponent),) = powers.items()
        if exponent == -_HALF and size != width:
            yield from _other_size(trace, scaled, size, width, softmax.event)
        elif exponent == _HALF:
            yield _inverted(trace, scaled, sizes.show(size), softmax.event)
        elif exponent == -1 and size == width:
            yield from _twice(trace, scaled, sizes.show(size), softmax.event)
    elif not powers and width.value is not None and width.value > 1:
        yield from _in_numbers(trace, scaled, coefficient, width.value, softmax.event)


def _in_numbers(trace: Trace, scaled: Scaled, coefficient: float, width: int, event: Event) -> Iterator[Finding]:
    """A scale of which only the number is known."""
    if math.isclose(coefficient, math.sqrt(width)):
        yield _inverted(trace, scaled, str(width), event)
    elif math.isclose(coefficient, 1 / width):
        yield from _twice(trace, scaled, str(width), event)


def _report(
    trace: Trace,
    scaled: Scaled,
    span: Span,
    message: str,
    *,
    severity: Severity = "error",
    labels: tuple[Label, ...] = (),
    why: str,
    help: str,
    notes: tuple[str, ...] = (),
    expected: str = "",
    causes: tuple[str, ...] = (),
) -> Finding:
    event = scaled.product.event
    return finding(
        trace,
        event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=message,
        tensor=event.target or assigned_name(trace, event) or trace.source(event.span),
        expected=expected,
        labels=labels + call_labels(event),
        why=why,
        help=help,
        notes=notes,
        causes=causes,
    )


_WHY = "a product of d independent features of variance 1 has variance d; dividing by sqrt(d) brings it back to 1"


def _other_size(trace: Trace, scaled: Scaled, size: Dim, width: Dim, event: Event) -> Iterator[Finding]:
    sizes = event.sizes
    assert sizes is not None
    if any(sizes.role(a, role) is not None for a in scaled.product.summed for role in ("row", "time", "batch")):
        return  # channel attention sums over positions, and its scale is a choice
    factor = next((f for f in scaled.factors if f.powers(sizes)), None)
    sameness = sizes.compare(size, width)
    severity = severity_of(sameness)
    ratio = size.divide(width) or width.divide(size)
    if factor is None or severity is None or (ratio is not None and ratio.const is not None and size.const is None):
        return
    ours, right = sizes.show(size), sizes.show(width)
    if "?" in ours + right:
        return
    if severity == "note" and is_of_heads(graph(trace), scaled, size, width, sizes):
        severity = "warning"
    yield _report(
        trace,
        scaled,
        place_of_scale(trace, factor),
        f"scores are scaled by the root of `{ours}`, but the product sums over `{right}`",
        severity=severity,
        labels=label(scaled.product.event.span, f"this product sums over `{right}`")
        + label(factor.event.span, f"scaled with the root of `{ours}` here"),
        why=_WHY,
        notes=(f"right only if {sameness.when}",) if sameness.when else (),
        help=f"divide by the root of the summed size: `math.sqrt({right})`",
        expected=f"1 / sqrt({right})",
        causes=(f"scaled on line {factor.event.span.line}",),
    )


def _inverted(trace: Trace, scaled: Scaled, size: str, event: Event) -> Finding:
    factor = next(f for f in scaled.factors if f.coefficient != 1.0 or (f.number is not None and f.number.powers))
    done, sign = ("divided", "*") if factor.sign < 0 else ("multiplied", "/")
    number = text_of(trace, factor.operand)
    place = place_of_scale(trace, factor)
    return _report(
        trace,
        scaled,
        factor.event.span,
        f"scores are multiplied with the root of `{size}`, not divided by it",
        labels=label(place, f"{number} comes from here") + label(scaled.product.event.span, "the scores"),
        why=_WHY + "; multiplied, the softmax picks one key and gives hardly any gradient",
        notes=(f"they are {done} {'by' if factor.sign < 0 else 'with'} {number} here",),
        help=f"write `{sign} {number}`",
        expected=f"1 / sqrt({size})",
    )


def _twice(trace: Trace, scaled: Scaled, size: str, event: Event) -> Iterator[Finding]:
    """Two scalings, each by the root of the summed size; 1/d in one step is a choice (maximal update parametrisation).

    Source: Yang et al. 2022, Tensor Programs V.
    """
    halves = sorted((f for f in scaled.factors if f.coefficient != 1.0 or (f.number and f.number.powers)), key=_order)
    if len(halves) != 2:
        return
    first, second = halves
    yield _report(
        trace,
        scaled,
        second.event.span,
        f"scores are scaled twice by the root of `{size}`",
        labels=label(first.event.span, "the first time") + label(scaled.product.event.span, "the scores"),
        why=_WHY,
        help=f"scale once: leave {text_of(trace, second.operand)} out here",
        expected=f"1 / sqrt({size})",
    )


def _order(factor: Factor) -> int:
    return factor.event.index


def _is_switched_off(trace: Trace, g: Graph, softmax: Softmax, scaled: Scaled) -> bool:
    """Whether the scores of this softmax are scaled on another walk: by a caller's choice, or in another branch."""
    others = (s for s in softmaxes(trace) if s.event.span == softmax.event.span and s.event is not softmax.event)
    found = (f for s in others if (f := scaled_scores(g, s.scores)) is not None)
    scales = (f for f in found if any(_is_a_scale(factor) for factor in f.factors))
    return any(f.product.event.function == scaled.product.event.function for f in scales)


def _is_a_scale(factor: Factor) -> bool:
    return factor.number is not None and (factor.coefficient != 1.0 or bool(factor.number.powers))


def _unscaled(trace: Trace, g: Graph, softmax: Softmax, scaled: Scaled, width: Dim, *, like: bool) -> Iterator[Finding]:
    if not is_scaled_dot_product(trace, g, softmax, scaled, like=like):
        return
    sizes = softmax.event.sizes
    assert sizes is not None
    size, event = sizes.show(width), scaled.product.event
    one = next((f for f in scaled.factors if f.operand is not None), None)
    default = one if one is not None and is_left_at_one(trace, one) else None
    if default is None and _is_switched_off(trace, g, softmax, scaled):
        return
    if default is not None:
        place = default.event.calls[-1].span
    else:
        place = place_of_scale(trace, one) if one is not None else event.span
    given = f"{text_of(trace, one.operand)} is 1" if one is not None else ""
    root = f"1 / math.sqrt({size})" if "?" not in size else "1 / math.sqrt(d_head)"
    yield _report(
        trace,
        scaled,
        place,
        f"scores of scaled dot-product attention are not scaled by the root of `{size}`"
        if "?" not in size
        else "scores of scaled dot-product attention are not scaled",
        severity="warning",
        labels=label(event.span, "the scores") + (label(one.event.span, given) if one is not None else ()),
        why=_WHY,
        notes=("Luong's dot score has no scale; this one is of projected queries, keys and values",),
        help=f"multiply the scores with `{root}`"
        if default is None
        else f"pass `{text_of(trace, default.operand)}={root}`",
        expected=root,
    )


def _fused(trace: Trace, g: Graph, event: Event) -> Iterator[Finding]:
    """Queries or keys that were scaled before torch's own attention scales their product."""
    scale = event.value("scale")
    if event.sizes is None or (scale is not None and not isinstance(scale, NoneValue)):
        return
    sides = [o for o in tensor_operands(event) if o.name in ("query", "key")]
    for operand in sides:
        for factor in side(g, operand).factors:
            powers = factor.powers(event.sizes)
            shape = event.sizes.shape(operand.shape) if operand.shape is not None else None
            if shape is None or not shape.suffix or factor.number is None:
                continue
            width = event.sizes.resolve(shape.suffix[-1].dim)
            if powers == {width: -_HALF}:
                yield _scaled_before(trace, event, operand, factor, event.sizes.show(width))


def _scaled_before(trace: Trace, event: Event, operand: Operand, factor: Factor, size: str) -> Finding:
    return finding(
        trace,
        event,
        factor.event.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{named(trace, operand)} is scaled by the root of `{size}` before attention that scales by it again",
        tensor=named(trace, operand),
        labels=label(event.span, f"scales the scores by 1 / sqrt({size}) itself") + call_labels(event),
        why=_WHY,
        help="leave the scale out here, or pass `scale=1.0`",
    )


RULE = Rule(
    code="SD405",
    name="wrong-score-scale",
    severity="error",
    summary="The scores are not scaled by one over the root of the size that the product sums over.",
    what="Collects every number that scores, queries and keys are multiplied with between the projections and the "
    "softmax, and compares the roots of sizes in it with the size that the product sums over: the root of `d_model` "
    "where `d_head` was summed, multiplied where it should be divided, scaled twice, or not scaled at all where query, "
    "key and value are projected and split into heads. Luong's dot score, which has no scale, learned temperatures, "
    "cosine scores and plain numbers are left alone, and so is a product that another caller has scaled: this one "
    "asked for no scale.",
    why="The variance of a score grows with the number of features that are summed. Too large, the softmax picks one "
    "key and passes on hardly any gradient; too small, it averages everything.",
    instead="`scores = q @ k.transpose(-2, -1) / math.sqrt(d_head)`, with the size of the axis that is summed.",
    source="Vaswani et al. 2017, section 3.2.1, equation 1; Luong et al. 2015, equation 8.",
    bad=(
        Example(
            """\
import math

import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))

    def split(self, x):
        batch_size, T, _ = x.shape
        return x.view(batch_size, T, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_model)  # <- SD405
        return torch.softmax(scores, dim=-1) @ v


torch.manual_seed(0)
result = MultiHead(12, 3)(torch.randn(2, 5, 12))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.scale = self.d_head**-0.5
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def forward(self, x):
        batch_size, T, _ = x.shape
        q, k, v = self.qkv(x).view(batch_size, T, 3, self.n_heads, self.d_head).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) / self.scale  # <- SD405
        return torch.softmax(scores, dim=-1) @ v


torch.manual_seed(0)
result = MultiHead(12, 3)(torch.randn(2, 5, 12))
"""
        ),
    ),
    good=(
        Example(
            """\
import math

import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))

    def split(self, x):
        batch_size, T, _ = x.shape
        return x.view(batch_size, T, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        return torch.softmax(scores, dim=-1) @ v


torch.manual_seed(0)
result = MultiHead(12, 3)(torch.randn(2, 5, 12))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.scale = self.d_head**-0.5
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def forward(self, x):
        batch_size, T, _ = x.shape
        q, k, v = self.qkv(x).view(batch_size, T, 3, self.n_heads, self.d_head).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) * self.scale
        return torch.softmax(scores, dim=-1) @ v


torch.manual_seed(0)
result = MultiHead(12, 3)(torch.randn(2, 5, 12))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: puts the scale in, takes it out, divides where it multiplies, "
        "or takes the root of the size that is summed."
    ),
    kind="silent",
)
