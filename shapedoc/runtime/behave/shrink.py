"""The smallest sizes at which a property still fails."""

from __future__ import annotations

from collections.abc import Callable

from shapedoc.runtime.behave.case import Case, Property, Violation
from shapedoc.runtime.behave.draw import draw
from shapedoc.runtime.behave.subject import Raised

__all__ = ["attempt", "shrink"]

_SEEDS = 3


def attempt(case: Case, prop: Property) -> tuple[Case, Violation | None] | None:
    """Draw the inputs of a case, run it and check it; nothing where the function refuses these sizes."""
    case.inputs = draw(case.contract, case.sizes, case.seed)
    try:
        case.outputs = case.run(case.inputs)
        return case, prop.check(case)
    except (Raised, IndexError, ValueError):
        return None


def shrink(
    case: Case, violation: Violation, prop: Property, fixed: frozenset[str], make: Callable[[dict[str, int], int], Case]
) -> tuple[Case, Violation]:
    """Make one size after the other as small as the failure allows. fixed: sizes that the caller gave."""
    best = (case, violation)
    # With one key or one query a right function, too, depends on less: a missing dependence is shown with two.
    least = 1 if violation.gap else 2
    for name in case.sizes:
        if name in fixed:
            continue
        for size in range(least, best[0].sizes[name]):
            smaller = {**best[0].sizes, name: size}
            found = _fails(smaller, case.seed, prop, make, violation.gap > 0)
            if found is not None:
                best = found
                break
    return best


def _fails(
    sizes: dict[str, int], seed: int, prop: Property, make: Callable[[dict[str, int], int], Case], moves: bool
) -> tuple[Case, Violation] | None:
    for step in range(_SEEDS):
        tried = attempt(make(sizes, seed + step), prop)
        if tried is not None and tried[1] is not None and (tried[1].gap > 0) == moves:
            return tried[0], tried[1]
    return None
