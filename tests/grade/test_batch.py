"""Batches: order, bounded time of our own, and faults that are nobody's but ours."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from shapedoc.grade import batch
from shapedoc.grade.assignment import SHIPPED, load
from shapedoc.grade.batch import Grader, Settings, grade_all, key_of, made_with
from shapedoc.grade.clock import TooSlow, within
from shapedoc.grade.jail.client import Jail, JailFault
from shapedoc.grade.journal import Journal
from shapedoc.grade.plan import Cause, Limits, Outcome, Plan
from shapedoc.grade.submission import Submission

RIGHT = (SHIPPED / "masked-softmax" / "reference.py").read_text(encoding="utf-8")
SETTINGS = Settings(seed=2, lint=False, feedback=False)


def _grader(jail: Jail, settings: Settings = SETTINGS) -> Grader:
    return Grader(load("masked-softmax"), settings, jail)


def test_results_stand_in_the_order_of_submissions(jail: Jail) -> None:
    problem = Cause("submission.empty")
    submissions = [Submission("b", RIGHT), Submission("a", "", problem=problem), Submission("c", RIGHT)]
    told: list[tuple[int, int]] = []
    run = grade_all(_grader(jail), submissions, jobs=2, told=lambda done, of: told.append((done, of)))
    assert [(result.name, result.status) for result in run.results] == [
        ("b", "passed"), ("a", "not_gradable"), ("c", "passed"),
    ]  # fmt: skip
    assert told == [(n, 3) for n in range(4)]


class _Failing(Jail):
    """A jail whose machinery fails for one submission."""

    def run(self, source: str, plan: Plan, limits: Limits | None = None) -> Outcome:
        if "# unlucky" in source:
            raise JailFault("the disk is gone")
        return super().run(source, plan, limits)


@pytest.mark.full
def test_a_fault_of_ours_costs_one_submission_and_is_not_kept(tmp_path: Path) -> None:
    submissions = [Submission("a", RIGHT), Submission("b", f"# unlucky\n{RIGHT}")]
    path = tmp_path / "run.jsonl"
    with _Failing() as jail:
        grader = _grader(jail)
        with Journal(path, made_with(grader.assignment, SETTINGS), resume=False) as journal:
            run = grade_all(grader, submissions, jobs=2, journal=journal)
    assert run.unlucky == {"b"}
    assert run.results[1].status == "not_gradable"
    assert run.results[1].message.endswith("no fault of the submission: the disk is gone")
    with Jail() as jail:
        grader = _grader(jail)
        with Journal(path, made_with(grader.assignment, SETTINGS), resume=True) as journal:
            assert list(journal.done) == [key_of(submissions[0])]
            run = grade_all(grader, submissions, jobs=2, journal=journal)
    assert not run.unlucky
    assert [result.status for result in run.results] == ["passed", "passed"]


def test_an_edited_submission_is_another(tmp_path: Path) -> None:
    first = Submission("a", "x = 1\n")
    assert key_of(first) == key_of(Submission("a", "x = 1\n"))
    others = [Submission("b", "x = 1\n"), Submission("a", "x = 2\n"), replace(first, problem=Cause("submission.empty"))]
    assert len({key_of(each) for each in (first, *others)}) == 4


def test_a_linter_that_hangs_leaves_the_marks(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    from shapedoc.grade import marking

    def hang(source: str, language: str) -> None:
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                continue

    monkeypatch.setattr(marking, "look", hang)
    monkeypatch.setattr(batch, "_LINT_S", 0.2)
    run = grade_all(_grader(jail, Settings(seed=2)), [Submission("a", RIGHT)], jobs=1)
    assert run.results[0].status == "passed"


def test_time_is_bounded_and_the_bound_is_gone_after() -> None:
    with pytest.raises(TooSlow), within(0.05):
        time.sleep(10)
    with within(0.05):
        pass
    time.sleep(0.1)
