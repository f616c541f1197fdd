"""A real run: every export of it is valid, its reports are the same in a second run, and nothing hidden is told."""

from __future__ import annotations

import csv
import html
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from shapedoc.grade.exports import FORMATS
from shapedoc.grade.jail.client import sandbox_problem
from shapedoc.grade.result import GradedSubmission
from tests.grade.exports.gradescope_schema import GRADESCOPE
from tests.grade.exports.prairielearn_schema import PRAIRIELEARN
from tests.report.sarif_schema import SARIF

pytestmark = pytest.mark.full

_WRONG = Path(__file__).parents[1] / "wrong" / "masked-softmax"


def grade(out: Path, jobs: int) -> Path:
    if why := sandbox_problem():
        print(f"SKIPPED: exports of a real run: {why}")
        pytest.skip(why)
    exports = [f"--export={name}" for name in FORMATS]
    command = [sys.executable, "-m", "shapedoc", "grade", "masked-softmax", str(_WRONG), "--seed", "5"]
    done = subprocess.run(
        [*command, "--out", str(out), "--jobs", str(jobs), *exports], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    return out


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grade(tmp_path_factory.mktemp("first") / "out", 2)


@pytest.fixture(scope="module")
def results(out: Path) -> list[GradedSubmission]:
    told = json.loads((out / "results.json").read_text(encoding="utf-8"))["results"]
    made = [GradedSubmission.from_json(json.dumps(one)) for one in told]
    assert len(made) == len(list(_WRONG.glob("*.py")))
    return made


def test_every_document_is_valid(out: Path, results: list[GradedSubmission]) -> None:
    exports = out / "exports"
    for name, schema in (("gradescope", GRADESCOPE), ("prairielearn", PRAIRIELEARN)):
        files = sorted((exports / name).glob("*/results.json"))
        assert len(files) == len(results)
        for file in files:
            jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), schema)
    jsonschema.validate(json.loads((exports / "sarif.sarif").read_text(encoding="utf-8")), SARIF)
    assert len(ElementTree.parse(exports / "junit.xml").findall("testsuite")) == len(results)
    for name, head in (("canvas", 2), ("moodle", 1), ("nbgrader", 1), ("otter", 2)):
        with (exports / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, strict=True))
        assert len(rows) == head + len(results)
        assert len({len(row) for row in rows}) == 1


def test_scores_are_the_same_everywhere(out: Path, results: list[GradedSubmission]) -> None:
    scores = {result.name: result.score for result in results}
    for result in results:
        told = json.loads((out / "exports" / "gradescope" / result.name / "results.json").read_text(encoding="utf-8"))
        assert told["score"] == pytest.approx(sum(test["score"] for test in told["tests"]))
        assert told["score"] == pytest.approx(scores[result.name])
    for name, key, score in (("canvas", 0, 5), ("moodle", 2, 4), ("nbgrader", 3, 9)):
        with (out / "exports" / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            rows = {row[key]: row[score] for row in csv.reader(lines)}
        assert {who: float(rows[who]) for who in scores} == pytest.approx(scores, abs=1e-4)


def test_hidden_items_tell_their_property_only(out: Path, results: list[GradedSubmission]) -> None:
    hidden = shown = 0
    for result in results:
        exports = [out / "exports" / name / result.name / "results.json" for name in ("gradescope", "prairielearn")]
        for page in (out / f"{result.name}.html", out / f"{result.name}.md", *exports):
            text = _words(page.read_text(encoding="utf-8"))
            told = [_words(i.evidence.says) for i in result.items if i.evidence and i.visibility == "visible"]
            kept = [_words(i.evidence.says) for i in result.items if i.evidence and i.visibility == "hidden"]
            assert all(says in text for says in told), page
            assert not any(says in text for says in kept if says not in told), page
            shown, hidden = shown + len(told), hidden + len(kept)
    assert shown > 0
    assert hidden > 0


def _words(text: str) -> str:
    """A text without what a format puts around or before its words."""
    return re.sub(r"<[^>]+>|\\\\|[\\`]", "", html.unescape(text))


def test_another_run_gives_the_same_bytes_but_for_the_time(out: Path, tmp_path: Path) -> None:
    again = grade(tmp_path / "out", 1)
    first = {path.relative_to(out): path for path in sorted(out.rglob("*")) if path.is_file()}
    second = {path.relative_to(again): path for path in sorted(again.rglob("*")) if path.is_file()}
    assert list(first) == list(second)
    for name, path in first.items():
        texts = [one.read_text(encoding="utf-8") for one in (path, second[name])]
        if "gradescope" in name.parts:
            texts = [re.sub(r'"execution_time": [\d.]+', "", text) for text in texts]
        assert texts[0] == texts[1], name
