"""SD203 loss-broadcast."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Problem, Trace
from shapedoc.rules.reading.blame import problems
from shapedoc.rules.reading.sized import made_before
from shapedoc.rules.reading.wording import call_labels, finding, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, "loss-broadcast"):
        found = _found(trace, event, problem)
        if found is not None:
            yield found


def _found(trace: Trace, event: Event, problem: Problem) -> Finding | None:
    one, other = event.operand("input"), event.operand("target")
    if one is None or other is None:
        return None
    name = event.short.removesuffix(".forward")
    prediction, target = text_of(trace, one), text_of(trace, other)
    ours, theirs = shape_text(event, one.shape), shape_text(event, other.shape)
    result = problem.detail.get("result", "")
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{name}` compares {ours} with {theirs}: every prediction meets every target",
        tensor=target,
        actual=theirs,
        expected=ours,
        labels=made_before(trace, event, one, other) + call_labels(event),
        why=f"an elementwise loss broadcasts its operands: the mean runs over {result}, of which the pairs that "
        "belong together are a small part",
        notes=("torch warns of this once, and goes on",),
        help=_help(
            one.shape.rank if one.shape else None, other.shape.rank if other.shape else None, prediction, target
        ),
    )


def _help(one: int | None, other: int | None, prediction: str, target: str) -> str:
    if one is not None and other is not None and one == other + 1:
        return f"{prediction}.squeeze(-1), or {target}.unsqueeze(-1)"
    if one is not None and other is not None and other == one + 1:
        return f"{target}.squeeze(-1), or {prediction}.unsqueeze(-1)"
    return f"bring {target} to the shape of {prediction}"


RULE = Rule(
    code="SD203",
    name="loss-broadcast",
    severity="error",
    summary="Prediction and target of an elementwise loss have shapes that broadcast.",
    what="Looks at the losses that broadcast their operands (`MSELoss`, `L1Loss`, `SmoothL1Loss`, `HuberLoss` and "
    "their "
    "functions) and compares the two shapes.",
    why="A `Linear(d, 1)` gives `(B, 1)` and the targets are `(B,)`: the loss is the mean over `(B, B)` pairs, and "
    "what "
    "minimises it is the mean of all targets. Training runs and learns nothing.",
    instead="Drop the axis of size 1: `criterion(output.squeeze(-1), target)`.",
    source="PyTorch documentation, torch.nn.MSELoss; Broadcasting semantics.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
x, target = torch.randn(5, 6), torch.randn(5)
result = nn.MSELoss()(model(x), target)  # <- SD203
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Regressor(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.read = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, 1)

    def forward(self, x, target):
        states, _ = self.read(x)
        batch_size, T, dim = states.shape
        return F.l1_loss(self.out(states), target.view(batch_size, T))  # <- SD203


torch.manual_seed(0)
result = Regressor(6)(torch.randn(5, 5, 6), torch.randn(25))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
x, target = torch.randn(5, 6), torch.randn(5)
result = nn.MSELoss()(model(x).squeeze(-1), target)
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Regressor(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.read = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, 1)

    def forward(self, x, target):
        states, _ = self.read(x)
        batch_size, T, dim = states.shape
        return F.l1_loss(self.out(states).squeeze(-1), target.view(batch_size, T))


torch.manual_seed(0)
result = Regressor(6)(torch.randn(5, 5, 6), torch.randn(25))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: gives prediction and target one shape.",
    kind="silent",
)
