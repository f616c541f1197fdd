"""Tests are run in processes of their own, with limits, and must fail before and pass after."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.exhibit import Exhibit, broken
from shapedoc.engine import Settings
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import prescribe
from shapedoc.prescribe.execution import run_test, verdict
from shapedoc.prescribe.regression import regression_test
from shapedoc.prescribe.writing import write_test

TEST = "import model\n\n\ndef test_it():\n    assert model.size == 3\n"
EXAMPLES = [one for one in broken() if "__main__" in one.text and one.code not in ("SD701", "SD901", "SD902")]


def test_a_test_fails_before_and_passes_after(tmp_path: Path) -> None:
    seen = verdict(TEST, str(tmp_path / "model.py"), "size = 2\n", "size = 3\n")
    assert seen.holds
    assert seen.words == "verified: executed; before the fix: AssertionError"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("while True:\n    pass\n", "it ran for more than 1 seconds"),
        ("raise SystemExit(9)\n", "SystemExit"),
        ("def broken(:\n", "SyntaxError"),
    ],
)
def test_what_cannot_be_run_is_no_proof(tmp_path: Path, text: str, words: str) -> None:
    ran = run_test(TEST, str(tmp_path / "model.py"), text, timeout_s=1)
    assert ran.outcome != "passed"
    assert words in ran.words or ran.outcome == "broken"


def test_a_test_is_never_written_over_another(tmp_path: Path) -> None:
    place = tmp_path / "test_model.py"
    assert write_test(place, TEST) == f"written to {place}"
    assert write_test(place, TEST) == f"{place} has this test already"
    assert write_test(place, TEST.replace("3", "5")) == f"{place} has another `test_it` and was left as it is"
    assert place.read_text(encoding="utf-8") == TEST
    assert write_test(place, TEST.replace("test_it", "test_more")) == f"added to {place}"
    assert place.read_text(encoding="utf-8").count("def test_") == 2


@pytest.mark.full
@pytest.mark.parametrize("exhibit", EXAMPLES, ids=lambda one: one.path.stem)
def test_the_test_of_a_report_fails_before_and_passes_after(exhibit: Exhibit) -> None:
    """What `json` hands on is written without running anything, and must hold all the same."""
    bench = Bench.of(str(exhibit.path), exhibit.text, Settings())
    for answer in prescribe(bench):
        test = regression_test(bench, answer)
        if test is not None and answer.fix is not None:
            seen = verdict(test, bench.path, bench.text, answer.fix.text)
            assert seen.holds, seen.words
