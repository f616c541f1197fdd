"""Submissions a minute on two cores, beside `otter run` on the same machine in the same run.

`python -m tests.benchmarks.grading [--submissions N] [--otter N]`; ``SHAPEDOC_PEERS`` names a Python that has otter.
Exercises 1 and 2, right and wrong solutions in turn. Ours: marking alone, the start of the fork server included; then
with the linter and the feedback; then the writing of the HTML. Otter: two runs side by side, each with one question of
a few lines, less than we ask.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from shapedoc.grade.assignment import load
from shapedoc.grade.batch import Grader, Settings, grade_all
from shapedoc.grade.jail.client import Jail
from shapedoc.grade.pages import html
from shapedoc.grade.result import GradedSubmission
from shapedoc.grade.submission import Submission

__all__ = ["Rates", "measure", "otter_a_minute"]

JOBS = 2
EXERCISES = ("masked-softmax", "multi-head-general")
_GRADE = Path(__file__).parents[1] / "grade"
_CHECKS = {
    "masked-softmax": """
>>> import torch
>>> scores, lengths = torch.randn(3, 5), torch.tensor([2, 5, 1])
>>> weights = masked_softmax(scores, lengths)
>>> bool(torch.allclose(weights.sum(-1), torch.ones(3)))
True
>>> bool((weights[0, 2:] == 0).all())
True
>>> bool(torch.allclose(weights[1], torch.softmax(scores[1], -1)))
True
""",
    "multi-head-general": """
>>> import torch
>>> s, h, W = torch.randn(2, 3, 5), torch.randn(2, 4, 6), torch.randn(5, 6)
>>> context, weights = multi_head_general(s, h, W, 1)
>>> right = torch.softmax(s @ W @ h.transpose(1, 2), -1)
>>> bool(torch.allclose(weights[:, 0], right, atol=1e-5))
True
>>> bool(torch.allclose(context, right @ h, atol=1e-5))
True
""",
}


@dataclass(frozen=True, slots=True)
class Rates:
    """Submissions a minute; ``html_ms`` is the time of one page."""

    marking: float
    with_feedback: float
    html_ms: float

    def __str__(self) -> str:
        return (
            f"marking {self.marking:.0f} a minute, with the linter and feedback {self.with_feedback:.0f},"
            f" HTML {self.html_ms:.1f} ms a page"
        )


def sources(exercise: str) -> list[tuple[str, str]]:
    """Names and texts of right and wrong solutions, in turn."""
    right, wrong = (sorted((_GRADE / kind / exercise).glob("*.py")) for kind in ("solutions", "wrong"))
    pairs = islice(zip(cycle(right), cycle(wrong), strict=False), max(len(right), len(wrong)))
    return [(path.stem, path.read_text(encoding="utf-8")) for pair in pairs for path in pair]


def measure(submissions: int) -> Rates:
    """Ours, on so many submissions, half of them of each exercise."""
    marking, _ = _graded(submissions, Settings(seed=1, lint=False, feedback=False))
    whole, results = _graded(submissions, Settings(seed=1))
    started = time.perf_counter()
    for result in results:
        html.render(result)
    return Rates(
        60 * submissions / marking,
        60 * submissions / whole,
        1000 * (time.perf_counter() - started) / len(results),
    )


def _graded(submissions: int, settings: Settings) -> tuple[float, list[GradedSubmission]]:
    """The seconds that grading took, from the start of the fork server to the last result."""
    results: list[GradedSubmission] = []
    started = time.perf_counter()
    with Jail() as jail:
        for exercise in EXERCISES:
            drawn = islice(cycle(sources(exercise)), submissions // len(EXERCISES))
            batch = [Submission(f"{name}-{i}", text, f"{name}.py") for i, (name, text) in enumerate(drawn)]
            run = grade_all(Grader(load(exercise), settings, jail), batch, jobs=JOBS)
            assert not run.unlucky
            results += run.results
    taken = time.perf_counter() - started
    assert {result.status for result in results} >= {"passed", "failed"}
    return taken, results


def otter_a_minute(python: str, submissions: int) -> float:
    """What `otter run` does, two side by side."""
    bin_ = Path(python).parent
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        environment = _environment(root, bin_)
        archives = {exercise: _autograder(root, exercise, bin_, environment) for exercise in EXERCISES}
        jobs: list[tuple[Path, Path]] = []
        for i in range(submissions):
            exercise = EXERCISES[i % len(EXERCISES)]
            name, text = sources(exercise)[2 * (i // len(EXERCISES))]  # right ones: a wrong one may stop otter early
            place = root / f"{i}-{name}"
            place.mkdir()
            (place / "submission.py").write_text(text, encoding="utf-8")
            jobs.append((archives[exercise], place))
        started = time.perf_counter()
        with ThreadPoolExecutor(JOBS) as executor:
            list(executor.map(lambda job: _otter_run(job[0], job[1], bin_, environment), jobs))
        return 60 * submissions / (time.perf_counter() - started)


def _otter_run(archive: Path, place: Path, bin_: Path, environment: dict[str, str]) -> None:
    command: Sequence[str | Path] = (bin_ / "otter", "run", "-a", archive, "-o", place, "--no-logo", "submission.py")
    subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True, timeout=600)
    assert '"status": "passed"' in (place / "results.json").read_text(encoding="utf-8")


def _autograder(root: Path, exercise: str, bin_: Path, environment: dict[str, str]) -> Path:
    tests = root / exercise / "tests"
    tests.mkdir(parents=True)
    case = {"code": _CHECKS[exercise], "hidden": False, "locked": False}
    suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
    test = {"name": "q1", "points": 1, "suites": [suite]}
    (tests / "q1.py").write_text(f"OK_FORMAT = True\ntest = {test!r}\n", encoding="utf-8")
    archive = tests.parent / "autograder.zip"
    options = ("--no-config", "--no-requirements", "--no-environment")
    command: Sequence[str | Path] = (bin_ / "otter", "generate", "-t", tests, "-o", archive, *options)
    subprocess.run(command, cwd=tests.parent, env=environment, check=True, capture_output=True)
    return archive


def _environment(root: Path, bin_: Path) -> dict[str, str]:
    """Otter's own packages first, and torch from the Python that runs this."""
    import torch

    site = root / "site"
    site.mkdir()
    packages = str(Path(torch.__file__).parents[1])
    (site / "sitecustomize.py").write_text(f"import sys\nsys.path.append({packages!r})\n", encoding="utf-8")
    path = f"{bin_}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=400)
    parser.add_argument("--otter", type=int, default=8)
    options = parser.parse_args(arguments)
    rates = measure(options.submissions)
    print(f"shapedoc, {options.submissions} submissions on {JOBS} cores: {rates}")
    python = os.environ.get("SHAPEDOC_PEERS")
    if not python:
        print("SKIPPED: otter: SHAPEDOC_PEERS names no Python that has it")
        return
    otter = otter_a_minute(python, options.otter)
    print(f"otter run, {options.otter} submissions, {JOBS} side by side: {otter:.1f} a minute")
    print(f"marking: {rates.marking / otter:.0f} times as many")


if __name__ == "__main__":
    main(sys.argv[1:])
