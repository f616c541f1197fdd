"""Right solutions get all marks however they are written; wrong ones lose some, and are told what their mistake is."""

from __future__ import annotations

import numpy as np
import pytest

from shapedoc.grade.assignment import load, shipped
from shapedoc.grade.comparing import close
from shapedoc.grade.jail.client import Jail
from shapedoc.grade.plan import Outcome
from tests.grade.grading import first_fault, graded, outcome_of, written_mistakes
from tests.grade.mutating import Mutant, mutants, right_solutions

RIGHT = [(assignment, name) for assignment in shipped() for name in right_solutions(assignment)]
QUICK = [("masked-softmax", "loop"), ("multi-head-general", "einsum"), ("scorers", "torch_bmm")]
SAMPLE = [
    ("masked-softmax", "multiplies_weights"),
    ("masked-softmax", "nan_rows"),
    ("multi-head-general", "view_heads_first"),
    ("scorers", "tanh_of_each"),
    ("scorers", "typing_slip"),
]


def _all_right(jail: Jail, assignment: str, name: str) -> None:
    result = graded(jail, load(assignment), right_solutions(assignment)[name])
    assert [item.id for item in result.items if item.status != "passed"] == []
    assert (result.status, result.score) == ("passed", result.max_score)


@pytest.mark.parametrize(("assignment", "name"), QUICK)
def test_a_right_solution_gets_all_marks(jail: Jail, assignment: str, name: str) -> None:
    _all_right(jail, assignment, name)


@pytest.mark.full
@pytest.mark.parametrize(("assignment", "name"), RIGHT)
def test_every_right_solution_gets_all_marks(jail: Jail, assignment: str, name: str) -> None:
    _all_right(jail, assignment, name)


def test_there_are_enough_right_solutions() -> None:
    assert len(RIGHT) >= 20


@pytest.mark.parametrize(("assignment", "name"), SAMPLE)
def test_a_mistake_is_named(jail: Jail, assignment: str, name: str) -> None:
    names, source = written_mistakes(assignment)[name]
    result = graded(jail, load(assignment), source)
    item = first_fault(result)
    assert result.score < result.max_score
    assert item.mistake in names
    assert item.evidence is not None
    assert 80 <= len(item.hint.split()) <= 160


def _differs(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes of one plan differ by more than rounding."""
    if (one.status, one.loaded.status) != (other.status, other.loaded.status):
        return True
    for step, reply in one.replies.items():
        back = other.replies[step]
        if reply.status != back.status or len(reply.arrays) != len(back.arrays):
            return True
        if reply.raised != back.raised and reply.status == "raised":
            return True
        grads = zip(reply.gradients, back.gradients, strict=True)
        pairs = [
            *zip(reply.arrays, back.arrays, strict=True),
            *((a, b) for a, b in grads if not (a is None and b is None)),
        ]
        for a, b in pairs:
            if a is None or b is None or a.dtype != b.dtype or not close(np.asarray(a), np.asarray(b), 1e-5):
                return True
    return False


@pytest.mark.full
@pytest.mark.parametrize("assignment", shipped())
def test_mutants_lose_marks_and_are_named(jail: Jail, assignment: str) -> None:
    """Every mutant that gives anything else than the right solution loses marks; nine in ten are named at once."""
    loaded, rights = load(assignment), right_solutions(assignment)
    before = {name: outcome_of(jail, loaded, source)[1] for name, source in rights.items()}
    wrong: list[Mutant] = []
    full: list[str] = []
    missed: list[str] = []
    for mutant in mutants(assignment):
        result = graded(jail, loaded, mutant.source)
        if result.score == result.max_score:
            if _differs(before[mutant.solution], outcome_of(jail, loaded, mutant.source)[1]):
                full.append(mutant.name)
            continue
        wrong.append(mutant)
        if first_fault(result).mistake not in mutant.names:
            missed.append(f"{mutant.name}: {first_fault(result).mistake}")
    print(f"{assignment}: {len(wrong)} wrong mutants, {len(wrong) - len(missed)} named; {missed}")
    assert full == []
    assert len(wrong) >= {"masked-softmax": 90, "multi-head-general": 50, "scorers": 40, "copy-task": 10}[assignment]
    assert len(missed) <= len(wrong) // 10, missed


@pytest.mark.full
@pytest.mark.parametrize("assignment", shipped())
def test_written_mistakes_lose_marks_and_are_named(jail: Jail, assignment: str) -> None:
    missed = []
    for name, (names, source) in written_mistakes(assignment).items():
        result = graded(jail, load(assignment), source)
        assert result.score < result.max_score, name
        if first_fault(result).mistake not in names:
            missed.append(f"{name}: {first_fault(result).mistake}")
    assert len(missed) <= len(written_mistakes(assignment)) // 10, missed


def test_the_same_seed_gives_the_same_bytes(jail: Jail) -> None:
    loaded, (_, source) = load("masked-softmax"), written_mistakes("masked-softmax")["keeps_last_keys"]
    one, other = graded(jail, loaded, source), graded(jail, loaded, source)
    assert one.to_json(timed=False) == other.to_json(timed=False)
    assert graded(jail, loaded, source, seed=2).to_json(timed=False) != one.to_json(timed=False)


def test_chinese(jail: Jail) -> None:
    source = written_mistakes("masked-softmax")["keeps_last_keys"][1]
    item = first_fault(graded(jail, load("masked-softmax"), source, language="zh"))
    assert item.title == "单个解码步"
    assert item.hint.startswith("掩码保留了每一行末尾的键")
    assert item.evidence is not None
    assert item.evidence.says.startswith("第 0 行的长度是 1")
