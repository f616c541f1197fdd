"""SD103 impossible-view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import Sym
from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import Layer
from shapedoc.rules.reading.blame import build_event, clearest, constructed, faulty_call, layer_of, problems
from shapedoc.rules.reading.flow import result_shape, shape_at
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import equal, made_before, only_if, quoted
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.reading.written import division_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.divided import DividedIndex, divided_indices
from shapedoc.rules.shapes.float_sizes import float_sizes

__all__ = ["RULE"]

_KIND = "impossible-view"


@dataclass(frozen=True, slots=True)
class _Says:
    """What a finding says besides its place."""

    message: str
    why: str
    help: str
    labels: tuple[Label, ...] = ()
    expected: str = ""
    causes: tuple[str, ...] = ()


def check(trace: Trace) -> Iterator[Finding]:
    floats: list[Event] = []
    for event, problem in problems(trace, _KIND):
        severity = severity_of(problem.sameness)
        operand = event.operand(problem.operands[0]) if problem.operands else None
        if severity is None or is_tainted(trace, operand) or "squeeze" in event.short:
            continue
        if problem.detail.get("why") == "float":
            floats.append(event)
        elif problem.detail.get("why") == "heads":
            yield _heads(trace, event, severity)
        else:
            yield _view(trace, event, problem, severity)
    yield from (_float(trace, *found) for found in float_sizes(trace, floats))
    for found in divided_indices(trace):
        yield _index(trace, found)


def _view(trace: Trace, event: Event, problem: Problem, severity: Severity) -> Finding:
    operand = event.operand(problem.operands[0]) if problem.operands else None
    undivided = _undivided(event)
    call = faulty_call(trace, event, (_KIND,))
    if undivided is not None:
        made = constructed(trace, event, undivided.owner)
        call = made or call
        says = _division(event, undivided)
    else:
        event, problem = clearest(trace, event, problem)
        says = _counts(trace, event, problem, operand)
    span = call.span if call is not None else _sizes_span(event)
    return _report(trace, event, span, severity, operand, says, only_if(problem))


def _report(
    trace: Trace,
    event: Event,
    span: Span,
    severity: Severity,
    operand: Operand | None,
    says: _Says,
    notes: tuple[str, ...] = (),
) -> Finding:
    text = text_of(trace, operand) if operand is not None else ""
    actual = shape_text(event, operand.shape) if operand is not None else ""
    return finding(
        trace,
        event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=says.message,
        tensor=text,
        actual=actual,
        expected=says.expected,
        labels=says.labels
        + label(event.span, f"{text} is {actual}" if actual else "it shows here")
        + made_before(trace, event, operand)
        + call_labels(event),
        why=says.why,
        notes=notes,
        help=says.help,
        causes=says.causes,
    )


def _sizes_span(event: Event) -> Span:
    """The sizes that are asked for; the whole operation where they are not written out."""
    operand = event.operand("shape")
    spans = [part.span for part in operand.parts if part.span is not None] if operand is not None else []
    if not spans:
        return operand.span if operand is not None and operand.span is not None else event.span
    return Span(spans[0].line, spans[0].column, spans[-1].end_line, spans[-1].end_column, spans[0].path)


# -- heads that do not divide


def _undivided(event: Event) -> Sym | None:
    """The quotient among the sizes of a view whose numbers do not divide."""
    shape = result_shape(event)
    for axis in shape.axes if shape is not None else ():
        for sym in axis.dim.syms:
            if sym.origin.startswith("floor "):
                return sym
    return None


def _division(event: Event, quotient: Sym) -> _Says:
    whole, _, part = quotient.origin.removeprefix("floor ").partition(" // ")
    numbers = _numbers(event, quotient, whole, part)
    line = f" (line {quotient.line})" if quotient.line else ""
    return _Says(
        f"{numbers[0]} is not divisible by {numbers[1]}",
        f"`{whole} // {part}`{line} is {quotient.value}, rounded down, so that the parts do not make up the whole",
        f"choose a `{part}` that divides `{whole}`",
        expected="",
    )


def _numbers(event: Event, quotient: Sym, whole: str, part: str) -> tuple[str, str]:
    found: dict[str, int] = {}
    for operand in event.operands:
        shape = shape_at(event, operand)
        for axis in (*(shape.axes if shape is not None else ()), *_axes(result_shape(event))):
            for sym in axis.dim.syms:
                if sym.name and sym.value is not None:
                    found[sym.name] = sym.value
    return (
        f"`{whole}` ({found[whole]})" if whole in found else f"`{whole}`",
        f"`{part}` ({found[part]})" if part in found else f"`{part}`",
    )


def _axes(shape: object) -> tuple[Axis, ...]:
    axes = getattr(shape, "axes", ())
    return axes if isinstance(axes, tuple) else ()


def _heads(trace: Trace, event: Event, severity: Severity) -> Finding:
    """`nn.MultiheadAttention` with heads that do not divide the embedding; torch says so where it is built."""
    layer = layer_of(event)
    built = build_event(trace, layer) if layer is not None else None
    embed, heads = (_size(built or event, layer, name) for name in ("embed_dim", "num_heads"))
    call: Call | None = None
    if built is not None and built.calls and built.function:
        call = constructed(trace, event, built.function)
    span = call.span if call is not None else layer.span if layer is not None else event.span
    says = _Says(
        f"embed_dim {embed} is not divisible by num_heads {heads}",
        "every head gets embed_dim // num_heads features, and together they make up embed_dim",
        "choose a number of heads that divides embed_dim",
        label(layer.span, "built here") if layer is not None else (),
    )
    return _report(trace, event, span, severity, None, says)


def _size(event: Event, layer: Layer | None, name: str) -> str:
    value = layer.config.get(name) if layer is not None else None
    dim = getattr(value, "dim", None)
    return quoted(event, dim) if dim is not None else f"`{name}`"


# -- counts


def _counts(trace: Trace, event: Event, problem: Problem, operand: Operand | None) -> _Says:
    text, actual = text_of(trace, operand), shape_text(event, operand.shape if operand is not None else None)
    why = problem.detail.get("why", "")
    if why == "split":
        a, b = problem.sizes
        return _Says(
            f"the pieces of `{event.short}` make up `{b}`, the axis has `{a}`",
            "the sizes of the pieces add up to the axis that is cut",
            f"sizes that add up to {a}",
        )
    if why in ("two unknown sizes", "-1 for a new axis"):
        return _Says(
            f"`{event.short}` cannot work out {why}", "one size at most can be left to torch", "write the others out"
        )
    if why in ("groups", "odd"):
        sizes = " by ".join(f"`{s}`" for s in problem.sizes)
        return _Says(
            f"`{event.short}` cannot divide {sizes}", "the groups have equal sizes", "choose sizes that divide"
        )
    shape = result_shape(event)
    wanted = shape_text(event, shape)
    have, need = _rest(event, operand)
    if len(have) == len(need) == 1:
        size = quoted(event, have[0])
        help_ = f"write {size} where it has {quoted(event, need[0])}"
    else:
        help_ = "sizes whose product is the number of elements"
    unequal = f"{_times(event, have)} are not {_times(event, need)}"
    return _Says(
        f"`{event.short}` cannot make {wanted} of `{text}` {actual}",
        f"a view has as many elements as what it shows: {unequal}",
        help_,
        causes=(f"{unequal} in {event.function}",) if all(a.dim.named for a in (*have, *need)) else (),
    )


def _rest(event: Event, operand: Operand | None) -> tuple[list[Axis], list[Axis]]:
    """The axes of both sides that the other does not have."""
    shape, result = shape_at(event, operand), result_shape(event)
    have, need = list(_axes(shape)), []
    for axis in _axes(result):
        found = next((a for a in have if equal(event, a, axis)), None)
        if found is None:
            need.append(axis)
        else:
            have.remove(found)
    return [a for a in have if a.dim.const != 1], [a for a in need if a.dim.const != 1]


def _times(event: Event, axes: list[Axis]) -> str:
    return " times ".join(quoted(event, a) for a in axes) or "`1`"


# -- floats


def _float(trace: Trace, event: Event, part: Operand, text: str) -> Finding:
    return finding(
        trace,
        event,
        division_of(trace, text) or part.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the size `{text}` is a float",
        tensor=text,
        labels=label(part.span, f"{text} is a float") + call_labels(event),
        why="`/` gives a float, also where the division comes out even, and a size is a whole number",
        help="divide with `//`",
    )


def _index(trace: Trace, found: DividedIndex) -> Finding:
    event = found.division
    text = event.target or trace.source(event.span)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the index `{text}` is made of floats",
        tensor=text,
        actual=shape_text(event, event.shape),
        labels=label(found.event.span, "it is an index here") + call_labels(event),
        why="`/` of whole numbers gives real ones, also of tensors (since torch 1.5), and an index is a whole number",
        help="divide with `//`, or `torch.div(..., rounding_mode='floor')`",
    )


RULE = Rule(
    code="SD103",
    name="impossible-view",
    severity="error",
    summary="A view has another number of elements than the tensor, or a size that is no whole number.",
    what="Compares the number of elements on both sides of `view`, `reshape`, `unflatten` and `split`, follows "
    "`d_model // n_heads` with the numbers that a call gives, and sizes and indices that went through `/`. It "
    "stands on the sizes of the view, on the call that gave numbers which do not divide, or on the division.",
    why="Heads take `d_model // n_heads` features each: where that does not come out even, features are missing, and "
    "the view raises far from the line that chose the numbers. `/` gives a float, which no size and no index "
    "can be: a beam search that was written for an old torch stops at `ids / vocab_size`.",
    instead="Choose a number of heads that divides `d_model`, view keys with their own length, and divide with `//`.",
    source="PyTorch documentation, torch.Tensor.view; Vaswani et al. 2017, section 3.2.2.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Heads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.project = nn.Linear(d_model, d_model)

    def forward(self, x):
        batch_size, T, _ = x.shape
        return self.project(x).view(batch_size, T, self.n_heads, self.d_head)


heads = Heads(512, 10)  # <- SD103
result = heads(torch.randn(2, 5, 512))
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch


def split(query, key, n_heads):
    batch_size, T_dec, d_model = query.shape
    batch_size, T_enc, d_model = key.shape
    d_head = d_model // n_heads
    query = query.view(batch_size, T_dec, n_heads, d_head).transpose(1, 2)
    key = key.view(batch_size, T_dec, n_heads, d_head).transpose(1, 2)  # <- SD103
    return query @ key.transpose(-2, -1)


result = split(torch.randn(2, 3, 8), torch.randn(2, 5, 8), 4)
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Heads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.project = nn.Linear(d_model, d_model)

    def forward(self, x):
        batch_size, T, _ = x.shape
        return self.project(x).view(batch_size, T, self.n_heads, self.d_head)


heads = Heads(512, 8)
result = heads(torch.randn(2, 5, 512))
"""
        ),
        Example(
            """\
import torch


def split(query, key, n_heads):
    batch_size, T_dec, d_model = query.shape
    batch_size, T_enc, d_model = key.shape
    d_head = d_model // n_heads
    query = query.view(batch_size, T_dec, n_heads, d_head).transpose(1, 2)
    key = key.view(batch_size, T_enc, n_heads, d_head).transpose(1, 2)
    return query @ key.transpose(-2, -1)


result = split(torch.randn(2, 3, 8), torch.randn(2, 5, 8), 4)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: divides with `//`, or views with another size that is in scope.",
    kind="both",
)
