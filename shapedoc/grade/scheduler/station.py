"""A process on a worker's machine that grades chunks: it execs the fork server, which a worker never forks itself.

``python -m shapedoc.grade.scheduler.station`` reads lines of JSON: a job, then requests; for each request it answers
one line, the list of answers. It ends with its input, or with its parent.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import asdict

from shapedoc.grade.batch import Grader, grade_all
from shapedoc.grade.jail.client import Jail
from shapedoc.grade.scheduler.chunk import Answer, read_job, read_submissions

__all__ = ["main"]

_LOOK_S = 1.0


def main() -> None:
    """Serve until the input ends."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    assignment, settings, jobs = read_job(sys.stdin.readline())
    with Jail() as jail:
        grader = Grader(assignment, settings, jail)
        for line in sys.stdin:
            run = grade_all(grader, read_submissions(line), jobs=jobs)
            answers = [Answer(each.name, each.to_json(), each.name not in run.unlucky) for each in run.results]
            print(json.dumps([asdict(answer) for answer in answers]), flush=True)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


if __name__ == "__main__":
    main()
