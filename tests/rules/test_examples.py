"""Every rule's own examples: the linter finds what they say, and running them shows that it is true."""

from __future__ import annotations

import contextlib
import io
import re
import warnings

import numpy as np
import pytest
import torch

from shapedoc.core.finding import Finding
from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from shapedoc.rules import Example, all_rules

_MARK = re.compile(r"# <- (SD\d{3})\s*$")
_RULES = {rule.code: rule for rule in all_rules()}
# What only a run shows; tests/runtime runs these examples.
_AT_RUN_TIME = ("SD903", "SD904")
_BAD = [(code, i) for code, rule in _RULES.items() for i in range(len(rule.bad))]
_GOOD = [(code, i) for code, rule in _RULES.items() for i in range(len(rule.good))]


def lint(code: str) -> list[Finding]:
    """What is found, notes left out but for those of rules that give nothing else."""
    findings = analyse("example.py", code, Settings()).findings
    return [f for f in findings if f.severity != "note" or (f.code in _RULES and _RULES[f.code].severity == "note")]


def marked(code: str) -> list[tuple[str, int]]:
    """What a program says of itself: the code and the line of every mark."""
    lines = enumerate(code.splitlines(), 1)
    return sorted((match[1], number) for number, line in lines if (match := _MARK.search(line)))


def execute(example: Example) -> tuple[str, object]:
    """The name of the exception that a program ends in, or what it leaves as ``result``."""
    torch.manual_seed(0)
    np.random.seed(0)
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of some of the faults
            exec(compile(example.code, "example.py", "exec"), names)
    except Exception as problem:
        return type(problem).__name__, None
    return "", names.get("result")


def same(one: object, other: object) -> bool:
    """Whether two results are of one shape and have the same numbers, NaN included."""
    a = one.detach().numpy() if isinstance(one, torch.Tensor) else np.asarray(one)
    b = other.detach().numpy() if isinstance(other, torch.Tensor) else np.asarray(other)
    return a.shape == b.shape and bool(np.allclose(a, b, equal_nan=True))


@pytest.mark.parametrize("code", _RULES)
def test_every_rule_has_its_page(code: str) -> None:
    rule = _RULES[code]
    assert all((rule.name, rule.summary, rule.what, rule.why, rule.instead, rule.source)), code
    assert rule.bad, code
    assert rule.good, code


@pytest.mark.parametrize(("code", "number"), [pair for pair in _BAD if pair[0] not in _AT_RUN_TIME])
def test_a_bad_example_is_found_where_it_says(code: str, number: int) -> None:
    example = _RULES[code].bad[number]
    assert sorted((f.code, f.span.line) for f in lint(example.code)) == marked(example.code)
    assert code in {c for c, _ in marked(example.code)}


@pytest.mark.parametrize(("code", "number"), _GOOD)
def test_a_good_example_is_silent(code: str, number: int) -> None:
    assert [(f.code, f.span.line, f.message) for f in lint(_RULES[code].good[number].code)] == []


@pytest.mark.parametrize(("code", "number"), _BAD)
def test_a_bad_example_raises_what_it_says(code: str, number: int) -> None:
    example = _RULES[code].bad[number]
    raised, _ = execute(example)
    assert raised == example.raises


@pytest.mark.parametrize(("code", "number"), _GOOD)
def test_a_good_example_runs(code: str, number: int) -> None:
    assert execute(_RULES[code].good[number])[0] == ""


@pytest.mark.parametrize(("code", "number"), _BAD)
def test_a_silent_bad_example_computes_something_else(code: str, number: int) -> None:
    rule = _RULES[code]
    bad, good = rule.bad[number], rule.good[number] if number < len(rule.good) else None
    if bad.raises or good is None or rule.code.startswith(("SD7", "SD9")):
        return
    (_, one), (_, other) = execute(bad), execute(good)
    assert one is not None, "the bad example leaves no `result`"
    assert other is not None, "the good example leaves no `result`"
    assert not same(one, other)
