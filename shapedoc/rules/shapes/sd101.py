"""SD101 mismatched-product."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Str
from shapedoc.rules.reading.blame import (
    axis_of,
    build_event,
    clearest,
    faulty_call,
    handed_in,
    layer_of,
    problems,
    setting_span,
    sibling_size,
)
from shapedoc.rules.reading.flow import SHAPING, graph, shape_at
from shapedoc.rules.reading.roles import called_at, mixed
from shapedoc.rules.reading.scores import CREATES, is_dot_score, is_tainted, maker, weight_made
from shapedoc.rules.reading.sized import exchanged, made_before, only_if, quoted, same_size, sums_over_one
from shapedoc.rules.reading.unlike_heads import unlike_heads
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.diagonals import diagonal_read
from shapedoc.rules.shapes.joins.joined import doubled

__all__ = ["RULE"]

_KINDS = ("mismatched-product", "mismatched-batch")


@dataclass(frozen=True, slots=True)
class _Product:
    """A product that does not fit: its two operands and the axes (from the right) whose sizes differ."""

    trace: Trace
    event: Event
    problem: Problem
    severity: Severity
    operands: tuple[Operand, Operand]
    shapes: tuple[Shape, Shape]
    axes: tuple[Axis, Axis]
    backs: tuple[int, int]

    def text(self, side: int) -> str:
        return text_of(self.trace, self.operands[side])

    def shape(self, side: int) -> str:
        return shape_text(self.event, self.operands[side].shape)

    def size(self, side: int) -> str:
        return quoted(self.event, self.axes[side])


@dataclass(frozen=True, slots=True)
class _Cure:
    """Where the finding stands, which operand is wrong, what it should be, and what to write."""

    span: Span | None
    side: int
    expected: str
    help: str
    labels: tuple[Label, ...] = ()
    why: str = ""


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, "repeated-index"):
        yield from diagonal_read(trace, event, problem, RULE.code, RULE.name)
    for event, problem in problems(trace, *_KINDS):
        severity = "error" if sums_over_one(event, problem) else severity_of(problem.sameness)
        if severity is None or layer_of(event) is not None or "pack" in event.short or "group" in problem.detail:
            continue
        if called_at(event) in mixed(trace) or doubled(trace, event, problem) is not None:
            continue  # values of another sequence than the keys; states joined along time
        if problem.kind == "mismatched-batch" and any(p.kind == "mismatched-product" for p in event.problems):
            continue  # one fault, said once
        product = _read(trace, *clearest(trace, event, problem), severity)
        if product is None or any(is_tainted(trace, o) for o in product.operands):
            continue
        if problem.kind == "mismatched-product" and is_dot_score(trace, event, problem):
            continue
        yield _found(product)
    yield from unlike_heads(trace, RULE.code, RULE.name)


def _read(trace: Trace, event: Event, problem: Problem, severity: Severity) -> _Product | None:
    operands = [event.operand(name) for name in problem.operands]
    if len(operands) != 2 or len(problem.axes) != 2:
        return None
    left, right = operands
    if left is None or right is None:
        return None
    shapes = shape_at(event, left), shape_at(event, right)
    axes = axis_of(event, left, problem.axes[0]), axis_of(event, right, problem.axes[1])
    if shapes[0] is None or shapes[1] is None or axes[0] is None or axes[1] is None:
        return None
    backs = _back(shapes[0], problem.axes[0]), _back(shapes[1], problem.axes[1])
    return _Product(trace, event, problem, severity, (left, right), (shapes[0], shapes[1]), (axes[0], axes[1]), backs)


def _back(shape: Shape, position: int) -> int:
    return position - len(shape.items) if position >= 0 else position


def _found(p: _Product) -> Finding:
    batch = p.problem.kind == "mismatched-batch"
    cure = (
        _batch_cure(p)
        if batch
        else _weight(p) or _letters(p) or _transpose(p) or _laid_out(p) or _projection(p) or _call(p)
    )
    sign = "@" if p.event.op.startswith("operator") else p.event.short
    what = "batch" if batch else "inner"
    side = cure.side
    return finding(
        p.trace,
        p.event,
        cure.span,
        code=RULE.code,
        name=RULE.name,
        severity=p.severity,
        message=f"{p.text(1)} has its batch where `{sign}` sums, and what it sums in front"
        if p.problem.detail.get("turned")
        else f"`{sign}` needs equal {what} sizes, got {p.size(0)} and {p.size(1)}",
        tensor=p.text(side),
        actual=p.shape(side),
        expected=cure.expected,
        labels=cure.labels
        + made_before(p.trace, p.event, *p.operands)
        + label(p.event.span, f"{p.text(0)} is {p.shape(0)}, {p.text(1)} is {p.shape(1)}")
        + call_labels(p.event),
        why=cure.why
        or f"{p.text(0)} is {p.shape(0)} and {p.text(1)} is {p.shape(1)}: a product sums over one size that both have",
        notes=only_if(p.problem),
        help=cure.help,
    )


def _weight(p: _Product) -> _Cure | None:
    """A learned matrix built with its sizes exchanged, or one that stands on the wrong side."""
    for side in (1, 0):
        made = weight_made(p.trace, p.operands[side]) or _array_made(p, side)
        if made is None or p.shapes[side].rank != 2:
            continue
        other = 1 - side
        mine = -3 - p.backs[side]
        if same_size(p.event, p.shapes[side], p.axes[other]) == mine:
            if side == 0 and same_size(p.event, p.shapes[other], p.axes[side], but=p.backs[other]) is not None:
                continue
            rows, columns = p.shapes[side].axes
            text = p.text(side)
            right = Shape((columns, rows))
            expected = shape_text(p.event, right)
            return _Cure(
                made.span,
                side,
                expected,
                f"build {text} as {expected}",
                label(p.operands[side].span, f"{text} is {p.shape(side)}"),
            )
        if side == 0 and same_size(p.event, p.shapes[1], p.axes[0], but=p.backs[1]) is not None:
            text = exchanged(p.trace, p.event, p.operands[0])
            return _Cure(None, 1, "", f"{p.text(1)} @ {text}", why=_rows(p))
    return None


def _array_made(p: _Product, side: int) -> Event | None:
    """The event that made a matrix of numbers which a caller passed, with its sizes exchanged."""
    made = graph(p.trace).producer(p.operands[side].value)
    if made is None or made.short not in CREATES or handed_in(p.trace, p.event, p.operands[side]) is None:
        return None
    exchanged_fits = same_size(p.event, p.shapes[side], p.axes[1 - side]) == -3 - p.backs[side]
    return made if p.shapes[side].rank == 2 and exchanged_fits and made.target else None


def _rows(p: _Product) -> str:
    return (
        f"every row of {p.text(1)} {p.shape(1)} is a vector of features, so the weight stands on its right, transposed"
    )


def _transpose(p: _Product) -> _Cure | None:
    """An operand that fits with its last two axes exchanged."""
    for side, back in ((1, -1), (0, -2)):
        if p.event.short in ("einsum", "linear", "inner") or p.shapes[side].rank == 1:
            continue
        if p.backs[side] != -3 - back or len(p.shapes[side].suffix) < 2:
            continue
        if same_size(p.event, Shape(p.shapes[side].suffix), p.axes[1 - side]) != back:
            continue
        call = faulty_call(p.trace, p.event, _KINDS) if side == 0 else None
        if call is not None:
            return None
        items = list(p.shapes[side].items)
        items[-1], items[-2] = items[-2], items[-1]
        right = exchanged(p.trace, p.event, p.operands[side])
        return _Cure(None, side, shape_text(p.event, Shape(tuple(items))), _written(p, side, right))
    return None


def _letters(p: _Product) -> _Cure | None:
    """An einsum whose string names two axes of an operand the other way round."""
    equation = next((o.value.value for o in p.event.operands if isinstance(o.value, Str)), None)
    terms, arrow, output = (equation or "").replace(" ", "").partition("->")
    parts = terms.split(",")
    if p.event.short != "einsum" or len(parts) != 2 or not arrow:
        return None
    for side in (1, 0):
        letters, rank = list(parts[side]), p.shapes[side].rank
        back = same_size(p.event, p.shapes[side], p.axes[1 - side], but=p.backs[side])
        if back is None or rank != len(letters) or "." in letters:
            continue
        own = p.backs[side]
        letters[own], letters[back] = letters[back], letters[own]
        written = [*parts[:side], "".join(letters), *parts[side + 1 :]]
        text = p.text(side)
        return _Cure(None, side, "", f'name the axes of {text} as they are: "{",".join(written)}->{output}"')
    return None


def _laid_out(p: _Product) -> _Cure | None:
    """An operand whose heads or batch stand where the other has what is summed: where it was laid out is wrong."""
    for side in (1, 0):
        back = same_size(p.event, p.shapes[side], p.axes[1 - side], but=p.backs[side])
        if back is None or back == -1 or p.backs[side] == -1 or p.axes[1 - side].dim.const == 1:
            continue
        made = graph(p.trace).producer(p.operands[side].value)
        named = made is not None and made.target and made.short in SHAPING and made.function == p.event.function
        right = exchanged(p.trace, p.event, p.operands[side], back, p.backs[side])
        return _Cure(made.span if named and made is not None else None, side, "", right)
    return None


def _written(p: _Product, side: int, right: str) -> str:
    left, other = (p.text(0), right) if side == 1 else (right, p.text(1))
    if p.event.op.startswith("operator"):
        return f"{left} @ {other}"
    library = p.event.op.split(".")[0].replace("numpy", "np")
    return f"{library}.{p.event.short}({left}, {other})"


def _projection(p: _Product) -> _Cure | None:
    """One side comes out of a learned map and the other does not: the map was built with the wrong size."""
    made = [maker(p.trace, operand) for operand in p.operands]
    if (made[0] is None) == (made[1] is None):
        return None
    side = 0 if made[0] is not None else 1
    event = made[side]
    layer = layer_of(event) if event is not None else None
    if layer is None or not _is_output(p, side):
        return None
    other = sibling_size(p.trace, build_event(p.trace, layer), p.axes[1 - side].dim.value)
    if not other and faulty_call(p.trace, p.event, _KINDS) is not None:
        return None
    wanted = f"`{other}`" if other else p.size(1 - side)
    return _Cure(
        setting_span(p.trace, layer, "out_features"),
        side,
        "",
        f"build the map with {wanted} as its last size",
        label(layer.span, f"{p.text(side)} comes out of this map"),
    )


def _is_output(p: _Product, side: int) -> bool:
    event = maker(p.trace, p.operands[side])
    if event is None or event.shape is None or not event.shape.suffix:
        return False
    return event.shape.suffix[-1].same(p.axes[side])


def _call(p: _Product) -> _Cure:
    call = faulty_call(p.trace, p.event, _KINDS)
    text = f"give {p.text(1)} {p.size(0)} where it has {p.size(1)}"
    if call is None:
        return _Cure(None, 1, "", text)
    return _Cure(call.span, 1, "", text)


def _batch_cure(p: _Product) -> _Cure:
    if p.problem.detail.get("turned"):
        text = f"{p.text(1)}.transpose(0, 1)"
        return _Cure(
            None, 1, "", text, why=f"the batch of {p.text(0)} is an axis that the product sums, and the reverse"
        )
    """Leading axes that differ: one side has them in another order, or lacks an `expand`."""
    call = faulty_call(p.trace, p.event, _KINDS)
    span = call.span if call is not None else None
    why = "the leading axes of both are the batch: one product for each of its elements"
    for side in (1, 0):
        other = 1 - side
        back = same_size(p.event, p.shapes[side], p.axes[other], but=p.backs[side])
        if back is not None:
            rank = p.shapes[side].rank
            one, two = (back + rank, p.backs[side] + rank) if rank is not None else (back, p.backs[side])
            text = exchanged(p.trace, p.event, p.operands[side], min(one, two), max(one, two))
            return _Cure(span, side, "", text, why=why)
    for side in (0, 1):
        if p.axes[side].dim.const == 1:
            return _Cure(span, side, "", f"expand {p.text(side)} to {p.size(1 - side)}", why=why)
    return _Cure(span, 1, "", f"bring both to one batch of {p.size(0)}", why=why)


RULE = Rule(
    code="SD101",
    name="mismatched-product",
    severity="error",
    summary="The sizes that a matrix product sums over differ.",
    what="Looks at `@`, `matmul`, `bmm`, `mm`, `mv`, `dot`, `einsum` and `F.linear`, and compares the two axes that "
    "are summed, and the leading axes, which are one batch; also a call of which one tensor alone has its heads "
    "untransposed. It stands on the product, or on the map or weight that was built with the wrong sizes.",
    why="A product of query and key sums over the features of both. Where a transpose was forgotten, or a weight was "
    "built with its sizes swapped, the sum runs over another axis: torch raises, or it runs because two sizes happen "
    "to agree and computes something else.",
    instead="Transpose the key (`k.transpose(-2, -1)`), or give the weight the size of the tensor it multiplies.",
    source="PyTorch documentation, torch.matmul; Vaswani et al. 2017, equation 1.",
    bad=(
        Example(
            """\
import torch


def scores(query, key):
    batch_size, T_dec, d_head = query.shape
    batch_size, T_enc, d_head = key.shape
    return query @ key  # <- SD101


result = scores(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch
import torch.nn as nn


class General(nn.Module):
    def __init__(self, d_s, d_h):
        super().__init__()
        self.W_a = nn.Parameter(torch.randn(d_h, d_s))  # <- SD101

    def forward(self, state, memory):
        return torch.bmm(memory, (state @ self.W_a).unsqueeze(2)).squeeze(2)


result = General(7, 11)(torch.randn(2, 7), torch.randn(2, 5, 11))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def scores(query, key):
    batch_size, T_dec, d_head = query.shape
    batch_size, T_enc, d_head = key.shape
    return query @ key.transpose(-2, -1)


result = scores(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class General(nn.Module):
    def __init__(self, d_s, d_h):
        super().__init__()
        self.W_a = nn.Parameter(torch.randn(d_s, d_h))

    def forward(self, state, memory):
        return torch.bmm(memory, (state @ self.W_a).unsqueeze(2)).squeeze(2)


result = General(7, 11)(torch.randn(2, 7), torch.randn(2, 5, 11))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: exchanges the last two axes of one operand or leaves out a "
        "transpose, exchanges the operands, or turns the two sizes round where a matrix is built."
    ),
    kind="both",
)
