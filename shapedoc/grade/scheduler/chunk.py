"""What goes to a worker and comes back: text alone, so that nothing is shared but the code."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shapedoc.grade.assignment import Assignment, load
from shapedoc.grade.batch import Settings
from shapedoc.grade.plan import Cause
from shapedoc.grade.submission import Submission

__all__ = ["Answer", "job_of", "read_job", "read_submissions", "request_of"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A result as JSON; `lasting` is False where the grader could not run the submission."""

    name: str
    result: str
    lasting: bool


def job_of(assignment: Assignment, settings: Settings, jobs: int) -> str:
    """What all chunks of a run share, as one line of JSON: the assignment's two files and what decides the marks."""
    files = {"assignment.toml": assignment.toml, "reference.py": assignment.reference}
    return json.dumps({"files": files, "settings": asdict(settings), "jobs": jobs})


def read_job(text: str) -> tuple[Assignment, Settings, int]:
    """The way back."""
    job = json.loads(text)
    with tempfile.TemporaryDirectory(prefix="shapedoc-") as folder:
        for name, content in job["files"].items():
            (Path(folder) / name).write_bytes(content.encode("utf-8"))
        return load(folder), Settings(**job["settings"]), int(job["jobs"])


def request_of(submissions: Sequence[Submission]) -> str:
    """Submissions, as one line of JSON."""
    return json.dumps([asdict(each) for each in submissions])


def read_submissions(text: str) -> list[Submission]:
    """The way back."""
    return [_submission(each) for each in json.loads(text)]


def _submission(held: dict[str, Any]) -> Submission:
    problem = held.pop("problem")
    return Submission(**held, problem=Cause(**problem) if problem else None)
