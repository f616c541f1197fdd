"""``gradescope``: every documented field, nothing else, and nothing hidden."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
from hypothesis import given

from shapedoc.grade.exports import Handing
from shapedoc.grade.exports.formats import gradescope
from shapedoc.grade.result import GradedSubmission
from tests.grade.exports.gradescope_schema import GRADESCOPE
from tests.grade.samples import CLASS, FAILED, hostile_results


def document(result: GradedSubmission) -> dict[str, Any]:
    made = json.loads(gradescope.render([result], Handing()))
    jsonschema.validate(made, GRADESCOPE)
    assert isinstance(made, dict)
    return made


def test_every_documented_field_is_there() -> None:
    properties: Any = GRADESCOPE["properties"]
    for result in CLASS:
        made = document(result)
        assert set(made) == set(properties)
        assert all(set(test) == set(properties["tests"]["items"]["properties"]) for test in made["tests"])
        assert all(set(row) == {"name", "value", "order"} for row in made["leaderboard"])


def test_the_schema_refuses_what_is_not_documented() -> None:
    made = document(FAILED)
    for wrong in ({"scores": 1}, {"visibility": "secret"}, {"tests": [{"status": "partial"}]}, {"score": "9"}):
        try:
            jsonschema.validate(made | wrong, GRADESCOPE)
        except jsonschema.ValidationError:
            continue
        raise AssertionError(f"{wrong} was taken")


def test_scores_visibility_and_order() -> None:
    made = document(FAILED)
    assert made["score"] == 2.5
    assert [(t["number"], t["score"], t["max_score"], t["status"], t["visibility"]) for t in made["tests"]] == [
        ("1", 1, 1, "passed", "visible"),
        ("2", 1.5, 3, "failed", "visible"),
        ("3", 0, 2, "failed", "hidden"),
        ("4", 0, 2, "failed", "after_due_date"),
        ("5", 0, 1, "failed", "visible"),
    ]
    assert sum(test["score"] for test in made["tests"]) == made["score"]
    assert made["execution_time"] == 1.25
    assert "seed" not in json.dumps(made)  # whoever knows it can draw the hidden inputs


def test_a_hidden_test_has_its_property_only_and_a_later_one_is_whole() -> None:
    made = document(FAILED)
    hidden, later = made["tests"][2], made["tests"][3]
    assert "A row of length 0 has weights of 0, not NaN." in hidden["output"]
    assert hidden["extra_data"] == {"id": "empty"}
    assert "LATER" in later["output"]
    assert "SECRET" not in json.dumps(made)
    assert "secret-mistake" not in json.dumps(made)


def test_the_leaderboard_counts_what_all_may_see() -> None:
    assert document(FAILED)["leaderboard"] == [
        {"name": "points", "value": 2.5, "order": "desc"},
        {"name": "accuracy at length 20", "value": 0.3, "order": "desc"},
    ]
    curve = replace(FAILED.pictures.accuracy[0], item="empty")
    hidden = replace(FAILED, pictures=replace(FAILED.pictures, accuracy=(curve,)))
    assert [row["name"] for row in document(hidden)["leaderboard"]] == ["points"]


def test_the_output_says_what_is_wrong_in_the_students_names() -> None:
    output = document(FAILED)["tests"][1]["output"]
    assert "Row 2 has length 3, yet key 4 got weight 0.21; it must be 0." in output
    assert "```text\nmasked_softmax(scores, lengths)\nscores  (1, 5), float32\n[[0.5, 1.5, 0.25, -1, 0.75]]" in output


@given(hostile_results())
def test_whatever_a_submission_says_the_document_is_valid(result: GradedSubmission) -> None:
    text = gradescope.render([result], Handing())
    text.encode("utf-8")
    jsonschema.validate(json.loads(text), GRADESCOPE)
    assert not any(ord(character) < 32 and character != "\n" for character in text)
