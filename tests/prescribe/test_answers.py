"""``prompt --check`` judges answers, whoever wrote them: thirty of thirty."""

from __future__ import annotations

import pytest

from shapedoc.prescribe.answers import judge, read_answer
from tests.prescribe.sheet import RIGHT, Written, bench_of, right_answer, wrong_answers


def judged(answer: Written, *, execute: bool) -> dict[str, bool | None]:
    bench = bench_of(answer.exhibit)
    return {one.part: one.holds for one in judge(bench, read_answer(answer.text), execute=execute)}


@pytest.mark.parametrize("name", RIGHT[:4])
def test_a_right_answer_holds_in_every_part(name: str) -> None:
    verdicts = judged(right_answer(name), execute=False)
    assert all(verdicts[part] for part in ("parts", "tensor", "shape", "fix"))


@pytest.mark.full
@pytest.mark.parametrize("name", RIGHT)
def test_the_test_of_a_right_answer_fails_before_and_passes_after(name: str) -> None:
    assert all(judged(right_answer(name), execute=True).values())


@pytest.mark.parametrize(
    "answer", [a for a in wrong_answers() if a.wrong != "test"], ids=lambda a: f"{a.kind}-{a.exhibit}"
)
def test_a_wrong_answer_is_found_where_it_is_wrong(answer: Written) -> None:
    assert judged(answer, execute=False)[answer.wrong] is False


@pytest.mark.full
@pytest.mark.parametrize(
    "answer", [a for a in wrong_answers() if a.wrong == "test"], ids=lambda a: f"{a.kind}-{a.exhibit}"
)
def test_a_test_that_proves_nothing_is_found(answer: Written) -> None:
    assert judged(answer, execute=True)["test"] is False
