"""SD603 reversed-axes."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.shape import Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.contractions import PRODUCTS, names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, graph, result_shape, shape_at
from shapedoc.rules.reading.wording import call_labels, finding, made_by, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_USES = PRODUCTS | names("softmax Softmax.forward log_softmax exp tensordot")


def check(trace: Trace) -> Iterator[Finding]:
    seen: set[Span] = set()
    for event in sorted(trace.events, key=lambda e: len(e.calls)):
        if event.span in seen or not any(p.kind == "reversed-axes" for p in event.problems):
            continue
        seen.add(event.span)
        yield _found(trace, event)


def _found(trace: Trace, event: Event) -> Finding:
    operand = tensor_operands(event)[0]
    text, shape = text_of(trace, operand), shape_at(event, operand)
    actual, reached = shape_text(event, shape), shape_text(event, result_shape(event))
    used = next((e for e in graph(trace).forward(event, lambda e: e.short in KEEPS) if e.short in _USES), None)
    written = "np.transpose" if event.op == "numpy.transpose" else f".{event.short}"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error" if used is not None else "note",
        message=f"`{written}` of {text} {actual} reverses all its axes: {reached}",
        tensor=text,
        actual=reached,
        expected=_exchanged(event, shape),
        labels=made_by(trace, operand.value, event, text) + call_labels(event),
        why="of a matrix it exchanges rows and columns; of more axes it turns the whole order round, the batch goes "
        "last",
        help=_help(text, operand, shape),
    )


def _exchanged(event: Event, shape: Shape | None) -> str:
    if shape is None or shape.rank is None or event.sizes is None:
        return ""
    parts = [event.sizes.show(a.dim) for a in shape.axes]
    parts[-1], parts[-2] = parts[-2], parts[-1]
    return f"({', '.join(parts)})"


def _help(text: str, operand: Operand, shape: Shape | None) -> str:
    receiver = f"({text})" if any(c in text for c in " +*/@") else text
    if isinstance(operand.value, Tensor) and operand.value.library == "torch":
        return f"{receiver}.transpose(-2, -1)"
    if shape is None or shape.rank is None:
        return f"np.swapaxes({text}, -2, -1)"
    order = list(range(shape.rank))
    order[-1], order[-2] = order[-2], order[-1]
    return f"{receiver}.transpose({', '.join(map(str, order))})"


RULE = Rule(
    code="SD603",
    name="reversed-axes",
    severity="error",
    summary="`.T` or a transpose without axes on a tensor with more than two axes.",
    what="Looks for `.T`, `np.transpose(x)` and `x.transpose()` on more than two axes, and follows the result to a "
    "product or a softmax. Where it goes elsewhere, it is a note.",
    why="`.T` reverses all axes: `(B, T, d)` becomes `(d, T, B)`. A product then sums over the batch, or raises; torch "
    "has deprecated it.",
    instead="Name the axes: `key.transpose(-2, -1)` or `key.mT` in torch, `np.swapaxes(key, -2, -1)` in NumPy.",
    source="PyTorch documentation, torch.Tensor.T (deprecated beyond 2-D); NumPy reference, numpy.transpose.",
    bad=(
        Example(
            """\
import numpy as np


def scores(query, key):
    n_heads, T, d_head = key.shape
    return query @ key.T / np.sqrt(d_head)  # <- SD603


rng = np.random.default_rng(0)
result = scores(rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3, 3)))
"""
        ),
    ),
    good=(
        Example(
            """\
import numpy as np


def scores(query, key):
    n_heads, T, d_head = key.shape
    return query @ key.transpose(0, 2, 1) / np.sqrt(d_head)


rng = np.random.default_rng(0)
result = scores(rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3, 3)))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: exchanges the last two axes alone.",
    kind="both",
)
