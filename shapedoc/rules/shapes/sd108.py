"""SD108 mismatched-loss."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.rules.reading.blame import axis_of, clearest, faulty_call, problems, twins
from shapedoc.rules.reading.flow import shape_at
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import equal, made_before, only_if
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.loss_order import Crossed, crossed

__all__ = ["RULE"]

_KIND = "mismatched-loss"


def check(trace: Trace) -> Iterator[Finding]:
    orders = {found.event.span: found for found in crossed(trace)}
    yield from (_in_another_order(trace, found) for found in orders.values())
    for event, problem in problems(trace, _KIND):
        severity = severity_of(problem.sameness) if event.span not in orders else None
        operands = [event.operand(name) for name in problem.operands]
        if any(p.kind == "loss-broadcast" for e in twins(trace, event) for p in e.problems):
            continue  # it runs, and SD203 says what it computes
        if severity is not None and not any(is_tainted(trace, o) for o in operands):
            yield _found(trace, *clearest(trace, event, problem), severity)


def _in_another_order(trace: Trace, found: Crossed) -> Finding:
    event, name = found.event, found.event.short.removesuffix(".forward")
    texts = [text_of(trace, o) for o in (found.input, found.target)]
    ours, theirs = (f"({', '.join(joined)})" for joined in (found.ours, found.theirs))
    return finding(
        trace,
        event,
        found.target.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{name}` compares {texts[0]}, flattened from {ours}, with {texts[1]}, flattened from {theirs}",
        tensor=texts[1],
        labels=label(found.input.span, f"joined of {ours}") + call_labels(event),
        why="both have as many elements, so that nothing raises, and each prediction is compared with another's target",
        help=f"turn one of them before it is flattened: `.transpose(0, 1).reshape(-1)`, so that both run {ours}",
    )


def _found(trace: Trace, event: Event, problem: Problem, severity: Severity) -> Finding:
    input, target = event.operand("input"), event.operand("target")
    texts = [text_of(trace, o) for o in (input, target)]
    shapes = [shape_text(event, o.shape) if o is not None else "" for o in (input, target)]
    call = faulty_call(trace, event, (_KIND,))
    why, help_, wrong = _cure(trace, event, problem, input, target)
    span = wrong.span if wrong is not None else None
    name = event.short.removesuffix(".forward")
    return finding(
        trace,
        event,
        call.span if call is not None else span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{name}` cannot compare {texts[0]} {shapes[0]} with {texts[1]} {shapes[1]}",
        tensor=text_of(trace, wrong) if wrong is not None else texts[0],
        actual=shape_text(event, wrong.shape) if wrong is not None else shapes[0],
        expected="",
        labels=label(input.span if input is not None else None, f"{texts[0]} is {shapes[0]}")
        + label(target.span if target is not None else None, f"{texts[1]} is {shapes[1]}")
        + made_before(trace, event, input, target)
        + call_labels(event),
        why=why,
        notes=only_if(problem),
        help=help_,
    )


def _cure(
    trace: Trace, event: Event, problem: Problem, input: Operand | None, target: Operand | None
) -> tuple[str, str, Operand | None]:
    """Why, one step, and the operand that is wrong."""
    classes = problem.detail.get("class_axis", "")
    text, other = text_of(trace, input), text_of(trace, target)
    ours, theirs = shape_at(event, input), shape_at(event, target)
    if not classes or ours is None or theirs is None:
        return ("prediction and target of this loss have one shape", f"bring {other} to the shape of {text}", target)
    why = "the classes stand on axis 1 of the prediction, and the target has one index for every other position"
    if ours.rank is not None and theirs.rank == ours.rank - 1 and ours.rank >= 3:
        lead = all(equal(event, a, b) for a, b in zip(ours.axes[:-1], theirs.axes, strict=True))
        if lead:
            return (why, f"{text}.transpose(1, {ours.rank - 1})" if ours.rank == 3 else f"{text}.movedim(-1, 1)", input)
    if ours.rank == 2 and theirs.rank == 2:
        return (why, f"flatten both: {text}.reshape(-1, n_classes) and {other}.reshape(-1)", target)
    if ours.rank == 3 and theirs.rank == 1:
        return (why, f"flatten {text} as {other} is: {text}.reshape(-1, {text}.size(-1))", input)
    if ours.rank == 2 and theirs.rank == 1:
        first = axis_of(event, input, 0)
        if first is not None:
            return (why, f"give {other} one index for each row of {text}", target)
    return (why, "bring the prediction to (N, C, ...) and the target to (N, ...)", input)


RULE = Rule(
    code="SD108",
    name="mismatched-loss",
    severity="error",
    summary="Prediction and target of a loss cannot meet.",
    what="Compares what `CrossEntropyLoss`, `NLLLoss` and the elementwise losses get: the classes of a prediction "
    "stand on axis 1, the target has the other axes. Reports predictions and targets that are flattened from axes in "
    "another order, too.",
    why="A decoder gives (batch, T, classes), torch wants (batch, classes, T): the loss takes the time for the "
    "classes and raises.",
    instead="Transpose the prediction (`logits.transpose(1, 2)`), or flatten both "
    "(`logits.reshape(-1, n_classes)`, `target.reshape(-1)`).",
    source="PyTorch documentation, torch.nn.CrossEntropyLoss.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self, d_model, n_classes):
        super().__init__()
        self.project = nn.Linear(d_model, n_classes)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, target):
        batch_size, T, d_model = x.shape
        batch_size, T = target.shape
        logits = self.project(x)
        return self.loss(logits, target)  # <- SD108


result = Tagger(7, 11)(torch.randn(2, 5, 7), torch.randint(0, 11, (2, 5)))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self, d_model, n_classes):
        super().__init__()
        self.project = nn.Linear(d_model, n_classes)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, target):
        batch_size, T, d_model = x.shape
        batch_size, T = target.shape
        logits = self.project(x)
        return self.loss(logits.transpose(1, 2), target)


result = Tagger(7, 11)(torch.randn(2, 5, 7), torch.randint(0, 11, (2, 5)))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: brings the classes to axis 1.",
    kind="loud",
)
