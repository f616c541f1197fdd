"""SD904 argument-mismatch: found at run time, by `shapedoc.check`."""

from __future__ import annotations

from collections.abc import Iterable

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterable[Finding]:
    """Nothing: real arguments are compared with what is stated when a checked function is called."""
    return ()


RULE = Rule(
    code="SD904",
    name="argument-mismatch",
    severity="error",
    summary="An argument or a result of a checked function does not have its stated shape.",
    what="Compares the arguments and results of a function under `@shapedoc.check` with the shapes that its "
    "annotations, comments or docstring state, and names the argument that is wrong: the smallest set without which "
    "all others agree, with the sizes that the module or all earlier calls fixed as witnesses. Where that does not "
    "decide, it is called a tie. A shape that only a comment states gives a warning.",
    why="The first argument that uses a name is as likely to be wrong as the second; a message that blames the first "
    "sends one to the wrong line.",
    instead="Pass a tensor of the stated shape, or mend what is stated.",
    source="jaxtyping and beartype check the same annotations; each names the first argument that contradicts an "
    "earlier one.",
    bad=(
        Example(
            """\
import torch
from jaxtyping import Float
from torch import Tensor

import shapedoc


@shapedoc.check
def scores(query: Float[Tensor, "B d"], keys: Float[Tensor, "B T d"], w: Float[Tensor, "d d"]):
    return torch.einsum("bd,btd->bt", query @ w, keys)


scores(torch.randn(3, 5), torch.randn(3, 7, 6), torch.randn(5, 5))  # <- SD904
""",
            raises="ShapeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
from jaxtyping import Float
from torch import Tensor

import shapedoc


@shapedoc.check
def scores(query: Float[Tensor, "B d"], keys: Float[Tensor, "B T d"], w: Float[Tensor, "d d"]):
    return torch.einsum("bd,btd->bt", query @ w, keys)


scores(torch.randn(3, 5), torch.randn(3, 7, 5), torch.randn(5, 5))
"""
        ),
    ),
    check=check,
    fix="No fix is offered: whether the argument or the statement is wrong is for the author to say.",
    kind="loud",
)
