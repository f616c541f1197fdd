"""What the parent makes of what comes back: nothing that a child asserts earns marks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shapedoc.grade.assignment import load
from shapedoc.grade.marking import Prepared, mark, not_run, prepare
from shapedoc.grade.oracles import ORACLES
from shapedoc.grade.plan import Call, Outcome, Raised, Reply, Step
from shapedoc.grade.result import GradedSubmission, ItemResult

SCORERS = load("scorers")
_ORACLE = {
    "dot_score": "dot-score",
    "general_score": "general-score",
    "concat_score": "concat-score",
    "additive_score": "additive-score",
}


def prepared() -> Prepared:
    """A submission of scorers in NumPy."""
    return prepare(SCORERS, name="li", seed=1, source="import numpy as np")


def right(step: Step) -> Reply:
    """What a right solution answers."""
    assert isinstance(step, Call)
    scores = ORACLES[_ORACLE[step.target]].right(step.kwargs)[0]
    dtype = next(v.dtype for v in step.kwargs.values() if isinstance(v, np.ndarray))
    return Reply(step.id, "ok", (scores.astype(dtype),), ("numpy.ndarray",))


def outcome(**changed: Reply) -> Outcome:
    """A child that answered all steps rightly, but for those of the items that are changed."""
    replies = {step.id: right(step) for step in prepared().plan.steps}
    for item, reply in changed.items():
        replies |= {step: reply for step in replies if step.split("/")[0] == item.replace("_", "-")}
    return Outcome("done", Reply("", "ok"), replies)


def item(result: GradedSubmission, name: str) -> ItemResult:
    """One item of a result."""
    return next(one for one in result.items if one.id == name)


def test_right_answers_get_all_marks() -> None:
    result = mark(prepared(), outcome())
    assert (result.status, result.score) == ("passed", SCORERS.max_score)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0,)),
        np.array("nonsense"),
        np.array([b"x"]),
        np.full((2, 3), np.nan),
        np.full((2, 3), 1j),
        np.zeros((2, 3), dtype="datetime64[s]"),
        np.array(1.0),
    ],
)
def test_any_array_is_looked_at_and_earns_nothing(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    result = mark(prepared(), outcome(dot=Reply("", "ok", (array,), ("numpy.ndarray",))))
    assert item(result, "dot").points == 0
    assert item(result, "dot").status == "failed"
    assert GradedSubmission.from_json(result.to_json()).items == result.items


def test_no_array_at_all() -> None:
    assert item(mark(prepared(), outcome(dot=Reply("", "ok"))), "dot").mistake == "result-missing"


def test_partial_credit_is_the_share_of_cases() -> None:
    whole = outcome()
    replies = dict(whole.replies)
    replies["general/3"] = replace(replies["general/3"], arrays=(replies["general/3"].arrays[0] * 2,))
    result = mark(prepared(), replace(whole, replies=replies))
    assert (item(result, "general").points, item(result, "general").status) == (3.0, "partial")
    assert (item(result, "general").right, item(result, "general").cases) == (3, 4)
    assert result.status == "failed"


def test_what_was_reached_counts_when_the_time_was_up() -> None:
    whole = outcome()
    replies = {name: r for name, r in whole.replies.items() if not name.startswith(("additive", "float64"))}
    result = mark(prepared(), replace(whole, status="timeout", replies=replies))
    assert result.status == "timeout"
    assert item(result, "concat").status == "passed"
    assert (item(result, "additive").status, item(result, "additive").points) == ("not_run", 0)
    assert item(result, "additive").reason.startswith("This was not reached:")


def test_an_import_that_raises() -> None:
    loaded = Reply("", "raised", raised=Raised("NameError", "name 'nn' is not defined", 3))
    result = mark(prepared(), Outcome("done", loaded, {}))
    assert result.score == 0
    assert result.message == "Your file could not be loaded: line 3 raises NameError: name 'nn' is not defined"
    assert result.items[0].mistake == "name-unknown"


def test_messages_that_no_file_takes_are_mended() -> None:
    reply = Reply("", "raised", raised=Raised("ValueError", "\ud800 bad\x00", 2))
    mark(prepared(), outcome(dot=reply)).to_json().encode()


def test_nothing_was_run() -> None:
    result = not_run(SCORERS, name="li", seed=1, status="not_gradable", message="empty", language="zh")
    assert (result.score, result.max_score, result.message) == (0, 20, "empty")
    assert {one.status for one in result.items} == {"not_run"}
    assert result.items[0].title.endswith("形状")


def test_the_hint_for_a_mistake_comes_once() -> None:
    doubled = {
        step.id: replace(right(step), arrays=(-right(step).arrays[0],))
        for step in prepared().plan.steps
        if step.id.startswith(("additive/", "float64/"))
    }
    whole = outcome()
    result = mark(prepared(), replace(whole, replies={**whole.replies, **doubled}))
    assert item(result, "additive").mistake == item(result, "float64").mistake == "scores-negated"
    assert len(item(result, "additive").hint.split()) >= 80
    assert "additive: the numbers" in item(result, "float64").hint
