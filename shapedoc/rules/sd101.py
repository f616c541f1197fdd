"""SD101 mismatched-product."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Problem, Trace
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.wording import call_labels, finding, made_by, named, severity_of, shape_text

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for event in trace.events:
        for problem in event.problems:
            if problem.kind == "mismatched-product":
                yield from _found(trace, event, problem)


def _found(trace: Trace, event: Event, problem: Problem) -> Iterator[Finding]:
    severity = severity_of(problem.sameness)
    operands = [event.operand(name) for name in problem.operands]
    if severity is None or len(problem.sizes) != 2:
        return
    left, right = (operands[0], operands[-1]) if operands else (None, None)
    shapes = [shape_text(event, o.shape) if o else "" for o in (left, right)]
    texts = [named(trace, o) for o in (left, right)]
    sign = "@" if event.short == "matmul" and event.op.startswith("operator") else event.short
    when = problem.sameness.when if problem.sameness else ""
    yield finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{sign}` needs equal inner sizes, got `{problem.sizes[0]}` and `{problem.sizes[1]}`",
        tensor=texts[1],
        actual=shapes[1],
        labels=tuple(
            lb
            for o, t in zip((left, right), texts, strict=True)
            if o is not None
            for lb in made_by(trace, o.value, event, t)
        )
        + call_labels(event),
        why=f"{texts[0]} is {shapes[0]} and {texts[1]} is {shapes[1]}: a product sums over one size that both have",
        notes=(f"runs only if {when}",) if when else (),
        help="transpose one of them, or build the map that makes it with the other size",
    )


RULE = Rule(
    code="SD101",
    name="mismatched-product",
    severity="error",
    summary="The sizes that a matrix product sums over differ.",
    what="Looks at `@`, `matmul`, `bmm`, `mm`, `mv`, `dot`, `einsum` and `F.linear`, and compares the two axes that are "
    "summed.",
    why="A product of query and key sums over the features of both. Where a transpose was forgotten, or a weight was "
    "built with its sizes swapped, the sum runs over another axis: torch raises, or it runs because two sizes happen to "
    "agree and computes something else.",
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
    ),
    check=check,
    kind="both",
)
