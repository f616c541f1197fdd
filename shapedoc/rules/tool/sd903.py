"""SD903 raised-here: found at run time, by `shapedoc run` and `shapedoc.check`."""

from __future__ import annotations

from collections.abc import Iterable

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterable[Finding]:
    """Nothing: what raised is known from the exception, which is no part of a trace."""
    return ()


RULE = Rule(
    code="SD903",
    name="raised-here",
    severity="error",
    summary="This very sub-expression raised, with operands of these shapes.",
    what="Explains an exception in code that `shapedoc run` or `shapedoc.check` watches: the sub-expression that "
    "raised it and the shapes of its operands, by name. It is told where no other rule explains the exception.",
    why="torch and NumPy name two numbers and no tensor, and a traceback names a line, which may hold ten operations.",
    instead="Compare the shapes of the operands, which the finding shows, and mend the one that is not as you meant.",
    source="Python's code objects know the place of every instruction (PEP 657); nothing is evaluated a second time.",
    bad=(
        Example(
            """\
import torch

lengths = torch.tensor([5, 7, 3])
words = torch.nn.utils.rnn.pack_padded_sequence(torch.randn(3, 7, 4), lengths, batch_first=True)  # <- SD903
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch

lengths = torch.tensor([5, 7, 3])
words = torch.nn.utils.rnn.pack_padded_sequence(
    torch.randn(3, 7, 4), lengths, batch_first=True, enforce_sorted=False
)
"""
        ),
    ),
    check=check,
    fix="No fix is offered: the rule says what happened, not what was meant.",
    kind="loud",
)
