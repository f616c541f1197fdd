"""A test that is proved by running it: the class is built with distinct primes and called, before and after the fix."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import Prescribed
from shapedoc.prescribe.composing import Composer
from shapedoc.prescribe.execution import Verdict, run_program, verdict
from shapedoc.prescribe.planning import Plan, plans
from shapedoc.prescribe.regression import call_test, regression_test, value_test
from shapedoc.prescribe.syntax import Syntax

__all__ = ["Proved", "proved_test"]

_PLANS = 5
_SECONDS = 30.0
_TRIAL_S = 20
_TRIAL = Path(__file__).with_name("trial.py")


@dataclass(frozen=True, slots=True)
class Proved:
    """A test and what its two runs have shown; or no test, and in `reason` why there is none."""

    test: str | None
    verdict: Verdict | None = None
    reason: str = ""


def proved_test(bench: Bench, answer: Prescribed, given: Mapping[str, str]) -> Proved:
    """Find a test that fails on the file as it is and passes on the mended one.

    The class or function at fault is tried first, then what calls it, then the file's own example. given: arguments
    for parameters by name, as expressions.
    """
    reasons: list[str] = []
    if answer.fix is not None and Path(bench.path).stem.isidentifier():
        found = _by_calls(bench, answer, given, reasons)
        if found is not None:
            return found
    test = regression_test(bench, answer)
    if test is None:
        return Proved(None, None, reasons[0] if reasons else "no value of the file's own example tells the two apart")
    seen = verdict(test, bench.path, bench.text, answer.fix.text if answer.fix is not None else None)
    if answer.fix is not None and not seen.holds:
        return Proved(None, seen, seen.words.removeprefix("not verified: "))
    return Proved(test, seen)


def _by_calls(bench: Bench, answer: Prescribed, given: Mapping[str, str], reasons: list[str]) -> Proved | None:
    fix = answer.fix
    if fix is None:
        return None
    syntax = Syntax.of(fix.text)
    until = time.monotonic() + _SECONDS
    for count, plan in enumerate(plans(syntax, fix.after.trace, answer.finding, given)):
        if count == _PLANS or time.monotonic() > until:
            break
        after = _tried(bench, plan, fix.text, None)
        if "problem" in after:
            reasons.append(_reason(plan, after["problem"]))
            continue
        before = _tried(bench, plan, bench.text, after["way"])
        for test in _tests(bench, answer, syntax, plan, after, before):
            seen = verdict(test, bench.path, bench.text, fix.text)
            if seen.holds:
                return Proved(test, seen)
            reasons.append(seen.words.removeprefix("not verified: "))
    return None


def _tests(
    bench: Bench, answer: Prescribed, syntax: Syntax, plan: Plan, after: Mapping[str, Any], before: Mapping[str, Any]
) -> list[str]:
    """The tests that can be written from two trials: of what differs in the results, else of the faulty value."""
    library = "torch" if re.search(r"^\s*(?:import|from) torch\b", bench.text, re.MULTILINE) else "numpy"
    composer = Composer(syntax, plan, after["way"], after, before, library)
    found = []
    if composer.claim:
        found.append(call_test(bench, answer, composer))
    value = value_test(bench, answer, composer)
    return [*found, value] if value is not None else found


def _reason(plan: Plan, problem: str) -> str:
    name = plan.class_name or plan.function
    if plan.unknown:
        wanted = ", ".join(f"`{one}`" for one in dict.fromkeys(plan.unknown))
        first = plan.unknown[0]
        return f"{name} cannot be built: nothing is known of {wanted}; say it with --arg {first}=VALUE"
    if plan.build and "build" in problem:
        return f"{name} cannot be built: {problem}"
    return f"{name} could not be called with drawn inputs ({problem})"


def _tried(bench: Bench, plan: Plan, text: str, chosen: object) -> dict[str, Any]:
    """What one trial in a child process has seen."""
    module = Path(bench.path).stem
    program = f"{_TRIAL.read_text(encoding='utf-8')}\n\nmain({plan.as_dict(module)!r}, {chosen!r})\n"
    try:
        ended = run_program(program, bench.path, text, timeout_s=_TRIAL_S)
    except OSError as problem:
        return {"problem": f"no process could be started: {problem.strerror}"}
    if ended.code is None:
        return {"problem": f"it ran for more than {_TRIAL_S} seconds"}
    try:
        told: dict[str, Any] = json.loads(ended.output.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (ended.errors.strip().splitlines() or ["it ended without a word"])[-1]
        return {"problem": last[:200]}
    return told
