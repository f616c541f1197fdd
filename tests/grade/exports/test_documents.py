"""``junit``, ``sarif`` and ``json``: to their standards, whatever a submission says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapedoc.grade.exports import Handing
from shapedoc.grade.exports.formats import json as json_format
from shapedoc.grade.exports.formats import junit, sarif
from shapedoc.grade.result import GradedSubmission
from tests.grade.samples import CLASS, FAILED, PASSED, hostile_results
from tests.report.sarif_schema import SARIF

MANY = st.lists(hostile_results(), max_size=3)


def sarif_of(results: list[GradedSubmission]) -> dict[str, Any]:
    made = json.loads(sarif.render(results, Handing()).encode("utf-8"))
    jsonschema.validate(made, SARIF)
    assert isinstance(made, dict)
    return made


def test_junit_has_a_suite_a_submission_and_a_case_an_item() -> None:
    root = ElementTree.fromstring(junit.render(CLASS, Handing()))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("15", "3", "6")
    first, second, third = root.findall("testsuite")
    assert (first.get("name"), first.get("tests"), first.get("failures"), first.get("errors")) == (
        "li_wei.py",
        "5",
        "3",
        "1",
    )
    assert second.find("testcase/failure") is None
    assert third.findtext("system-err") == "line 3: '(' was never closed"
    failure = first.findall("testcase")[1].find("failure")
    assert failure is not None
    assert failure.get("type") == "mask-after-softmax"
    assert (failure.get("message") or "").startswith("Row 2 has length 3, yet key 4 got weight 0.21")
    assert "torch.softmax(scores, dim=-1) * mask" in (failure.text or "")
    assert first.findall("testcase")[1].get("name") == "Padding gets no weight (1.5/3)"


def test_sarif_has_the_linters_findings_and_the_items_that_fail() -> None:
    (run,) = sarif_of([FAILED, PASSED])["runs"]
    found = [
        (r["ruleId"], r["locations"][0]["physicalLocation"]["region"]["startLine"], r["level"]) for r in run["results"]
    ]
    assert found == [
        ("SD404", 14, "error"),
        ("masked-softmax/padding", 14, "error"),
        ("masked-softmax/empty", 1, "error"),
        ("masked-softmax/gradient", 1, "error"),
        ("masked-softmax/dtype", 1, "error"),
    ]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "li_wei.py"


def test_a_line_of_a_notebook_is_told_in_words() -> None:
    (run,) = sarif_of([replace(FAILED, name="hw.ipynb")])["runs"]
    result = run["results"][0]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert result["message"]["text"].startswith("line 14: the weights are masked after the softmax")


def test_json_comes_back_as_it_was_without_the_time() -> None:
    made = json.loads(json_format.render(CLASS, Handing()))
    assert made["schema"] == "shapedoc-grade/1"
    back = [GradedSubmission.from_json(json.dumps(one)).to_json() for one in made["results"]]
    assert back == [GradedSubmission.from_json(one.to_json(timed=False)).to_json() for one in CLASS]


@settings(max_examples=30)
@given(MANY)
def test_whatever_a_submission_says_junit_is_xml(results: list[GradedSubmission]) -> None:
    root = ElementTree.fromstring(junit.render(results, Handing()))
    assert len(root.findall("testsuite/testcase")) == 2 * len(results)


@settings(max_examples=30)
@given(MANY)
def test_whatever_a_submission_says_sarif_is_valid(results: list[GradedSubmission]) -> None:
    assert len(sarif_of(results)["runs"][0]["results"]) == 3 * len(results)


@settings(max_examples=30)
@given(MANY)
def test_whatever_a_submission_says_json_is_plain(results: list[GradedSubmission]) -> None:
    text = json_format.render(results, Handing())
    assert len(json.loads(text.encode("utf-8"))["results"]) == len(results)
    assert not any(ord(character) < 32 and character != "\n" for character in text)


@pytest.mark.parametrize("render", [junit.render, sarif.render, json_format.render])
def test_the_same_results_give_the_same_bytes(render: Any) -> None:
    timed = [replace(result, execution_time_s=9.0) for result in CLASS]
    assert render(timed, Handing()) == render(list(CLASS), Handing())
