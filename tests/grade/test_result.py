"""A result is data: it comes back from JSON as it was, and a student sees no more than the rubric allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shapedoc.grade.assignment import HintLevel, Visibility
from shapedoc.grade.result import (
    Accuracy,
    Evidence,
    GradedSubmission,
    ItemResult,
    LintFinding,
    Pictures,
    Value,
    Weights,
)

NAN, INF = float("nan"), float("inf")

ITEM = ItemResult(
    "padding",
    "Padding",
    "Padding has no weight.",
    "failed",
    1.5,
    3.0,
    evidence=Evidence("Row 2…", "f(x)", (Value("x", "[1]", (1,), "float32"),), gap=0.21, line=14, source="return w"),
    hint="Move the mask.",
    fix="scores.masked_fill(…)",
    mistake="mask-after-softmax",
    cases=4,
    right=2,
)
GRADED = GradedSubmission(
    "li, wei",
    "masked-softmax",
    "Masked softmax",
    7,
    "zh",
    "failed",
    (ITEM,),
    1.5,
    3.0,
    (LintFinding("SD404", "mask-after-softmax", "error", 14, 5, "…"),),
    Pictures(
        (Weights("padding", "t", ((0.5, -INF),), ((1.0, 0.0),), ((False, True),)),),
        (Accuracy("padding", "t", (5, 10), (1.0, 0.9), (0.4, 0.3), (0.8, 0.8)),),
        "<svg/>",
    ),
    execution_time_s=0.25,
)


def test_there_and_back() -> None:
    assert GradedSubmission.from_json(GRADED.to_json()) == GRADED
    assert GRADED.to_json().count("\n") == 0


def test_the_time_stands_apart() -> None:
    slow = replace(GRADED, execution_time_s=9.0)
    assert slow.to_json(timed=False) == GRADED.to_json(timed=False)
    assert slow.to_json() != GRADED.to_json()


def test_what_is_not_finite_comes_back() -> None:
    picture = replace(GRADED.pictures.weights[0], got=((NAN, INF),))
    back = GradedSubmission.from_json(replace(GRADED, pictures=Pictures((picture,))).to_json())
    assert str(back.pictures.weights[0].got) == "((nan, inf),)"


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"name": 3}', "nonsense", GRADED.to_json().replace('"failed"', '"fine"')]
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        GradedSubmission.from_json(text)


@pytest.mark.parametrize(
    ("visibility", "level", "published", "evidence", "line", "hint", "fix"),
    [
        ("visible", "fix", False, True, True, True, True),
        ("visible", "line", False, True, True, True, False),
        ("visible", "input", False, True, False, False, False),
        ("visible", "property", False, False, False, False, False),
        ("hidden", "fix", True, False, False, False, False),
        ("after_published", "fix", False, False, False, False, False),
        ("after_published", "fix", True, True, True, True, True),
    ],
)
def test_what_a_student_sees(
    visibility: Visibility, level: HintLevel, published: bool, evidence: bool, line: bool, hint: bool, fix: bool
) -> None:
    graded = replace(GRADED, items=(replace(ITEM, visibility=visibility, hint_level=level),))
    seen = graded.for_student(published=published)
    (item,) = seen.items
    assert (item.evidence is not None) is evidence
    assert (item.evidence is not None and item.evidence.line == 14) is line
    assert bool(item.hint) is hint
    assert bool(item.fix) is fix
    assert bool(seen.pictures.weights) is evidence
    assert item.says == ITEM.says
