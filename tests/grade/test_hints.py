"""Every mistake that can be recognised is explained, at a length that is read."""

from __future__ import annotations

import pytest

from shapedoc.grade.feedback import diagnosis
from shapedoc.grade.feedback.hints import hint_of, mistakes, title_of
from shapedoc.grade.messages import catalogue
from shapedoc.grade.oracles import ORACLES
from tests.grade.grading import written_mistakes
from tests.grade.mutating import mutants


def _recognised() -> set[str]:
    named = {mistake.name for oracle in ORACLES.values() for mistake in oracle.mistakes}
    tables = (diagnosis._BY_FAULT, diagnosis._BY_RULE, diagnosis._BY_EXCEPTION, dict(diagnosis._BY_MESSAGE))
    return named | {name for table in tables for name in table.values()}


def test_every_mistake_has_its_hint() -> None:
    assert _recognised() - set(mistakes()) == set()


@pytest.mark.parametrize("mistake", mistakes())
def test_a_hint_is_as_long_as_is_read(mistake: str) -> None:
    assert 80 <= len(hint_of(mistake, "en").split()) <= 160
    assert 120 <= len(hint_of(mistake, "zh")) <= 330
    assert not title_of(mistake, "en").endswith(".")
    assert not title_of(mistake, "zh").endswith("。")


def test_a_concept_is_of_use() -> None:
    used = {text for key, text in catalogue("en").items() if key.endswith(".concept")}
    assert used == {key.removeprefix("concept.") for key in catalogue("en") if key.startswith("concept.")}


def test_expectations_name_mistakes_that_there_are() -> None:
    names = {name for m in mutants("scorers") for name in m.names} | {n for m in mutants("copy-task") for n in m.names}
    for assignment in ("masked-softmax", "multi-head-general", "scorers", "copy-task"):
        names |= {name for told, _ in written_mistakes(assignment).values() for name in told}
        names |= {name for mutant in mutants(assignment) for name in mutant.names}
    assert names - set(mistakes()) == set()
