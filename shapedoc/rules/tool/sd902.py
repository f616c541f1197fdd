"""SD902 unused-suppression: found by the engine, after every other rule."""

from __future__ import annotations

from collections.abc import Iterable

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterable[Finding]:
    """Nothing: which suppressions were needed is known only when all rules have run."""
    return ()


RULE = Rule(
    code="SD902",
    name="unused-suppression",
    severity="warning",
    summary="A comment suppresses a finding that is not there.",
    what="Reports a `# shapedoc: ignore` or `# shapedoc: ignore[…]` on whose line nothing is found that it would "
    "suppress. `# noqa` is never reported, since other tools read it as well.",
    why="A suppression that has outlived its finding silences the next one, which may be a new fault.",
    instead="Remove the comment.",
    source="flake8 and ruff treat `# noqa` alike (RUF100).",
    bad=(
        Example(
            """\
import torch

scores = torch.randn(2, 5, 3)
result = scores.softmax(dim=-1)  # shapedoc: ignore[SD403]  # <- SD902
"""
        ),
    ),
    good=(
        Example(
            """\
import torch

scores = torch.randn(2, 5, 3)
result = scores.softmax(dim=-1)
"""
        ),
    ),
    check=check,
    fix="No fix is offered: delete the comment, or what it names that is unused.",
    kind="silent",
)
