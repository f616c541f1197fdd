"""Whether a function takes inputs of generic sizes, or only where two sizes happen to be equal."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from shapedoc.runtime.behave.case import Case
from shapedoc.runtime.behave.contract import ContractError
from shapedoc.runtime.behave.draw import draw
from shapedoc.runtime.behave.outcome import Failure
from shapedoc.runtime.behave.subject import Raised

__all__ = ["accepted"]

_SEEDS = 3
_NAME = "runs-at-any-size"
_RULE = "it runs whatever the sizes are, as long as one name is one size"

Make = Callable[[dict[str, int], int], Case]


def accepted(make: Make, sizes: dict[str, int], fixed: frozenset[str], seed: int) -> tuple[list[Case], Failure | None]:
    """Cases that the function runs, and a failure where it does so only when two sizes are equal.

    fixed: sizes that the caller gave. Raises ContractError where no two equal sizes make it run either.
    """
    try:
        return _run(make, sizes, seed), None
    except Raised as raised:
        refusal = raised
    for kept, other in combinations(sizes, 2):
        if other in fixed and kept in fixed:
            continue
        name, source = (other, kept) if other not in fixed else (kept, other)
        equal = {**sizes, name: sizes[source]}
        try:
            cases = _run(make, equal, seed)
        except Raised:
            continue
        return cases, _coincidence(make(sizes, seed), (kept, other), refusal)
    drawn = ", ".join(f"{name}={size}" for name, size in sizes.items())
    raise ContractError(
        f"{make(sizes, seed).subject.name} refuses the inputs of the contract, drawn with {drawn}: {refusal};"
        " give the sizes that it was built for, as in sizes={'d': 16}"
    ) from refusal.error


def _run(make: Make, sizes: dict[str, int], seed: int) -> list[Case]:
    cases = []
    for step in range(_SEEDS):
        case = make(sizes, seed + step)
        case.inputs = draw(case.contract, case.sizes, case.seed)
        case.outputs = case.run(case.inputs)
        cases.append(case)
    return cases


def _coincidence(case: Case, pair: tuple[str, str], refusal: Raised) -> Failure:
    inputs = draw(case.contract, case.sizes, case.seed)
    says = f"it runs only where {pair[0]} == {pair[1]}; with {pair[0]} = {case.sizes[pair[0]]} and"
    says += f" {pair[1]} = {case.sizes[pair[1]]} it raises {refusal}"
    return Failure(_NAME, _RULE, says, float("inf"), case.sizes, inputs, None, {}, "")
