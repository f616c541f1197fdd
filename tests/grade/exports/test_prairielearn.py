"""``prairielearn``: valid, small enough, and silent on what is hidden."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given

from shapedoc.grade.exports import Handing
from shapedoc.grade.exports.formats import prairielearn
from shapedoc.grade.result import GradedSubmission, Weights
from tests.grade.exports.prairielearn_schema import PRAIRIELEARN
from tests.grade.samples import CLASS, FAILED, NOT_GRADABLE, hostile_results


def document(result: GradedSubmission, published: bool = False) -> dict[str, Any]:
    made = json.loads(prairielearn.render([result], Handing(published=published)))
    jsonschema.validate(made, PRAIRIELEARN)
    assert isinstance(made, dict)
    return made


@pytest.mark.parametrize("result", CLASS, ids=lambda result: result.status)
def test_every_kind_of_result_is_valid(result: GradedSubmission) -> None:
    document(result)


def test_the_points_of_all_tests_sum_to_the_score() -> None:
    made = document(FAILED)
    assert made["score"] == round(2.5 / 9, 6)
    assert sum(test["points"] for test in made["tests"]) == 2.5
    assert sum(test["max_points"] for test in made["tests"]) == 9


def test_what_is_not_shown_has_its_property_and_no_points_of_its_own() -> None:
    made = document(FAILED)
    text = json.dumps(made)
    assert "SECRET" not in text
    assert "LATER" not in text
    hidden = made["tests"][2]
    assert (hidden["description"], hidden["points"], hidden["max_points"]) == (
        "A row of length 0 has weights of 0, not NaN.",
        0,
        0,
    )
    assert (made["tests"][-1]["points"], made["tests"][-1]["max_points"]) == (0, 4)
    published = document(FAILED, published=True)
    assert "LATER" in json.dumps(published)
    assert "SECRET" not in json.dumps(published)


def test_what_cannot_be_graded_costs_nothing_and_says_why() -> None:
    assert document(NOT_GRADABLE) == {"gradable": False, "format_errors": ["line 3: '(' was never closed"]}


def test_pictures_are_svg_and_are_left_out_where_they_are_too_large() -> None:
    made = document(FAILED)
    images = made["tests"][1]["images"]
    assert [image["label"] for image in images] == ["Row 2: your weights", "Row 2: the right weights"]
    for image in images:
        ElementTree.fromstring(b64decode(image["url"].partition(",")[2]))
    table = tuple((0.01,) * 100 for _ in range(100))
    large = replace(FAILED.pictures, weights=(Weights("padding", "large", table, table),))
    text = prairielearn.render([replace(FAILED, pictures=large)], Handing())
    assert len(text.encode()) < prairielearn.MOST_BYTES
    assert all(not test.get("images") for test in json.loads(text)["tests"])


@given(hostile_results())
def test_whatever_a_submission_says_the_document_is_valid(result: GradedSubmission) -> None:
    text = prairielearn.render([result], Handing())
    jsonschema.validate(json.loads(text.encode("utf-8")), PRAIRIELEARN)
    assert "\\u001b" not in text
