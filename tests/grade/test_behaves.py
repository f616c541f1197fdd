"""`behaves`: what `shapedoc.behave` tests, planned before the run and judged after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shapedoc.grade.assignment import Assignment, AssignmentError, load
from shapedoc.grade.marking import mark, prepare
from shapedoc.grade.plan import Call, Outcome, Raised, Reply
from shapedoc.grade.properties.behaves import MISTAKES, well_behaved
from shapedoc.grade.result import GradedSubmission
from shapedoc.runtime.behave.contract import parse

Function = Callable[..., tuple[Any, ...]]
FILE = """
name = "attention"
title = "Attention"
summary = "Attention."
framework = "numpy"
[targets]
attend = ["query", "memory", "pad"]
[draws.all]
function = "attend"
contract = "query: B T_dec d, memory: B T_enc d, pad: drop B T_enc -> context: B T_dec d, weights: B T_dec T_enc"
sizes = [{B = 2, T_dec = 2, T_enc = 3, d = 2}, {B = 3, T_dec = 4, T_enc = 5, d = 6}]
dtype = "float64"
"""
ITEM = """
[[item]]
id = "NAME"
title = "NAME"
says = "NAME"
property = "behaves"
points = 1
with = {draw = "all", only = ["NAME"]}
"""


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """An item for every property."""
    text = FILE + "".join(ITEM.replace("NAME", name) for name in MISTAKES)
    (tmp_path / "assignment.toml").write_text(text)
    (tmp_path / "reference.py").write_text("")
    return load(tmp_path)


def answered(assignment: Assignment, function: Function) -> GradedSubmission:
    """The marks of a function that is called in this process."""
    prepared = prepare(assignment, name="li", seed=1)
    replies = {}
    for step in prepared.plan.steps:
        assert isinstance(step, Call)
        try:
            results = tuple(np.asarray(one) for one in function(**step.kwargs))
            replies[step.id] = Reply(step.id, "ok", results, ("numpy.ndarray",) * len(results))
        except ValueError as problem:
            replies[step.id] = Reply(step.id, "raised", raised=Raised("ValueError", str(problem)))
    return mark(prepared, Outcome("done", Reply("", "ok"), replies))


def attend(
    query: Any, memory: Any, pad: Any, *, axis: int = -1, mask: bool = True, mix: float = 0.0, last: float = 0.0
) -> tuple[Any, ...]:
    """Attention, right by default."""
    scores = np.einsum("bqd,bkd->bqk", query, memory) + mix * query.sum(axis=0).sum() + last * memory[:, :1, :1]
    if mask:
        scores = np.where(pad[:, None], -1e9, scores)
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = weights / weights.sum(axis=axis, keepdims=True)
    return weights @ memory + mix * query.mean(axis=0) + last * memory[:, :1], weights


def failing(result: GradedSubmission) -> dict[str, str]:
    """The items that are wrong, and the mistake that each stands for."""
    return {item.id: item.mistake for item in result.items if item.status != "passed"}


def test_a_right_function_behaves(assignment: Assignment) -> None:
    result = answered(assignment, attend)
    assert (failing(result), result.score) == ({}, len(MISTAKES))


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (lambda **given: attend(**given, mask=False), {"masked-keys-change-nothing", "every-input-matters"}),
        (lambda **given: attend(**given, axis=1), {"weights-sum-to-one", "queries-are-independent"}),
        (lambda **given: attend(**given, mix=1.0), {"rows-do-not-mix", "alone-as-in-batch"}),
        (lambda **given: attend(**given, last=1.0), {"keys-in-any-order"}),
        (lambda query, memory, pad: attend(query * 0, memory, pad), {"every-input-matters"}),
        (lambda **given: (attend(**given)[0] * np.inf, attend(**given)[1]), {"results-are-finite"}),
        (lambda **given: attend(**given)[::-1], {"shapes-as-stated"}),
    ],
)
def test_a_wrong_one_does_not(assignment: Assignment, function: Function, wrong: set[str]) -> None:
    result = answered(assignment, function)
    found = failing(result)
    assert wrong <= set(found)
    assert all(len(item.hint.split()) >= 10 for item in result.items if item.status == "failed")
    assert result.score < len(MISTAKES)


def test_the_changed_input_is_shown(assignment: Assignment) -> None:
    result = answered(assignment, lambda **given: attend(**given, mix=1.0))
    evidence = next(item for item in result.items if item.id == "rows-do-not-mix").evidence
    assert evidence is not None
    assert [value.name for value in evidence.inputs] == ["query", "memory", "pad", "then query", "then memory"]
    assert evidence.says.startswith("Changing one example of the batch moves the result of another by ")


def test_a_function_that_raises_earns_nothing(assignment: Assignment) -> None:
    def broken(query: Any, memory: Any, pad: Any) -> tuple[Any, ...]:
        raise ValueError("no")

    def breaks_alone(query: Any, memory: Any, pad: Any) -> tuple[Any, ...]:
        if len(query) == 1:
            raise ValueError("a batch of one")
        return attend(query, memory, pad)

    assert answered(assignment, broken).score == 0
    assert set(failing(answered(assignment, breaks_alone))) == {"alone-as-in-batch"}


@pytest.mark.parametrize(
    "contract",
    [
        "query: B d, memory: B T d, pad: drop B T -> context: B d, weights: B T",
        "q: B H T_dec d, k: B H T_enc d, v: B H T_enc e, mask: keep T_dec T_enc -> out: B H T_dec e",
        "x: B T H*d, H: 2 -> y: B T H*d",
        "scores: B T_dec T_enc, lengths: lengths<T_enc B -> weights: B T_dec T_enc",
    ],
)
def test_the_function_that_plans_has_the_shapes_of_its_contract(contract: str) -> None:
    from shapedoc.runtime.behave.draw import choose_sizes, draw

    read = parse(contract)
    sizes = choose_sizes(read)
    results = well_behaved(read, draw(read, sizes, 1))
    for result in read.results:
        assert results[result.name].ndim == len(result.dims)
        assert np.isfinite(results[result.name]).all()
        assert results[result.name].std() > 0


def test_what_does_not_apply_is_refused(tmp_path: Path) -> None:
    text = FILE.replace("pad: drop B T_enc", "pad: B T_enc") + ITEM.replace("NAME", "masked-keys-change-nothing")
    (tmp_path / "assignment.toml").write_text(text)
    (tmp_path / "reference.py").write_text("")
    with pytest.raises(AssignmentError, match="masked-keys-change-nothing does not apply: no mask and no lengths"):
        load(tmp_path)
