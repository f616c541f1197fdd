"""SD110 view-after-transpose."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.rules.reading.blame import clearest, problems
from shapedoc.rules.reading.flow import graph
from shapedoc.rules.reading.sized import atom
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_MOVES = frozenset(("transpose", "permute", "swapaxes", "swapdims", "movedim", "t", "T", "mT"))


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, "view-after-transpose"):
        if severity_of(problem.sameness) is not None:
            yield _found(trace, *clearest(trace, event, problem))


def _found(trace: Trace, event: Event, problem: Problem) -> Finding:
    operand = event.operand(problem.operands[0]) if problem.operands else None
    text, actual = text_of(trace, operand), shape_text(event, operand.shape if operand is not None else None)
    moved = _moved(trace, operand)
    inline = moved is not None and operand is not None and moved.span == operand.span
    inner = atom(text)
    sizes = event.operand("shape")
    written = ", ".join(text_of(trace, part) for part in sizes.parts) if sizes is not None and sizes.parts else "..."
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`view` joins `{problem.sizes[0]}` and `{problem.sizes[1]}`, which do not lie side by side in memory",
        tensor=text,
        actual=actual,
        labels=label(moved.span if moved is not None else None, "its axes are exchanged here, its memory is not")
        + (label(operand.span, f"{text} is {actual}") if operand is not None and not inline else ())
        + call_labels(event),
        why="a transpose changes the order of the axes and leaves the elements where they are; `view` copies nothing",
        help=f"{inner}.reshape({written})" if len(written) < 60 else f"{inner}.contiguous() before the view",
    )


def _moved(trace: Trace, operand: Operand | None) -> Event | None:
    """The transpose that the operand comes from."""
    g = graph(trace)
    made = g.producer(operand.value) if operand is not None else None
    for _ in range(20):
        if made is None or made.short in _MOVES:
            return made
        made = g.main_source(made)
    return None


RULE = Rule(
    code="SD110",
    name="view-after-transpose",
    severity="error",
    summary="A view needs contiguous memory and does not have it.",
    what="Follows the order of memory through `transpose`, `permute` and elementwise arithmetic, and reports a `view` "
    "that joins axes which do not lie side by side.",
    why="`view` never copies. After `transpose(1, 2)` the heads of one position lie apart, so that they cannot be "
    "joined without a copy: torch raises `view size is not compatible with input tensor's size and stride`.",
    instead="Use `reshape`, which copies where it must, or `contiguous()` before the view.",
    source="PyTorch documentation, torch.Tensor.view, Tensor Views.",
    bad=(
        Example(
            """\
import torch


def merge(heads):
    batch_size, n_heads, T, d_head = heads.shape
    return heads.transpose(1, 2).view(batch_size, T, n_heads * d_head)  # <- SD110


result = merge(torch.randn(2, 3, 5, 7))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def merge(heads):
    batch_size, n_heads, T, d_head = heads.shape
    return heads.transpose(1, 2).reshape(batch_size, T, n_heads * d_head)


result = merge(torch.randn(2, 3, 5, 7))
"""
        ),
    ),
    check=check,
    fix="Safe: `reshape` copies where `view` cannot look, and gives the same numbers everywhere else.",
    kind="loud",
)
