"""`shapedoc.behave`: what a function does, tested by changing its inputs; no hooks, torch and NumPy alike.

The names of the axes say what must hold: changing one example of a batch changes no other, a masked key changes
nothing, weights sum to one over the keys. Each failure comes with the smallest failing input and a regression test.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from shapedoc.runtime.behave.accepted import accepted
from shapedoc.runtime.behave.case import Case, Property, Violation
from shapedoc.runtime.behave.contract import Contract, ContractError, parse
from shapedoc.runtime.behave.draw import choose_sizes
from shapedoc.runtime.behave.outcome import Behaviour, Failure
from shapedoc.runtime.behave.properties import all_properties
from shapedoc.runtime.behave.regression import regression_test
from shapedoc.runtime.behave.shrink import shrink
from shapedoc.runtime.behave.subject import Raised, Subject

__all__ = ["Behaviour", "Contract", "ContractError", "Failure", "behave"]


def behave(
    fn: Callable[..., Any],
    contract: str,
    *,
    sizes: Mapping[str, int] | None = None,
    reference: Callable[..., Any] | None = None,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    framework: Literal["torch", "numpy"] | None = None,
    dtype: str | None = None,
    tolerance: float | None = None,
    seed: int = 0,
) -> Behaviour:
    """Test a function by perturbing its inputs.

    fn: a function or ``nn.Module``; modules are tested in evaluation mode. contract: one line, such as
    ``"query: B T_dec d, memory: B T_enc d, mask: keep B T_enc -> context: B T_dec d, weights: B T_dec T_enc"``.
    sizes: numbers for some axis names, where the function was built for them. reference: a function that must give
    the same. only, skip: names of properties. tolerance: relative to the results' size, 1e-4 in float32 and 1e-8 in
    float64.

    Raises ContractError for a contract that cannot be read, a name that no property has, or a function that refuses
    the inputs that the contract describes.
    """
    read = parse(contract)
    properties = _chosen(all_properties(reference), only, skip)
    subject = Subject(fn, read, framework, dtype)
    close = tolerance if tolerance is not None else (1e-8 if subject.dtype == "float64" else 1e-4)
    outcome = Behaviour(subject.name)
    chosen = choose_sizes(read, sizes)
    cases, coincidence = accepted(lambda s, n: _case(subject, s, n, close), chosen, frozenset(sizes or ()), seed)
    if coincidence is not None:
        outcome.failures.append(coincidence)
    fixed = frozenset(sizes or ())
    for prop in properties:
        reason = prop.applies(subject)
        if reason:
            outcome.skipped[prop.name] = reason
            continue
        found = _first_failure(prop, cases)
        if found is None:
            outcome.held.append(prop.name)
            continue
        case, violation = shrink(*found, prop, fixed, lambda s, n: _case(subject, s, n, close))
        outcome.failures.append(_failure(prop, case, violation))
    return outcome


def _chosen(properties: list[Property], only: Collection[str], skip: Collection[str]) -> list[Property]:
    known = [prop.name for prop in properties]
    for name in (*only, *skip):
        if name not in known:
            raise ContractError(f"no property is called {name!r}; there are {', '.join(known)}")
    return [prop for prop in properties if (not only or prop.name in only) and prop.name not in skip]


def _case(subject: Subject, sizes: dict[str, int], seed: int, tolerance: float) -> Case:
    return Case(subject, subject.contract, sizes, {}, seed, tolerance)


def _first_failure(prop: Property, cases: list[Case]) -> tuple[Case, Violation] | None:
    for case in cases:
        try:
            violation = prop.check(case)
        except Raised as raised:
            violation = Violation(f"the changed input raises {raised}", float("inf"))
        if violation is not None:
            return case, violation
    return None


def _failure(prop: Property, case: Case, violation: Violation) -> Failure:
    return Failure(
        prop.name,
        prop.says,
        violation.says,
        violation.gap,
        dict(case.sizes),
        violation.inputs or case.inputs,
        violation.changed,
        case.outputs,
        regression_test(case, violation, prop.name, prop.says),
    )
