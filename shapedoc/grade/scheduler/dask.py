"""Grading on an existing Dask cluster: the client reads, ships text, and alone writes the journal.

A chunk whose workers die is cut in halves, until the one submission that kills them stands alone; it is told as not
graded through no fault of its own, and no other suffers.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from shapedoc.grade.assignment import Assignment
from shapedoc.grade.batch import Run, Settings, Told, from_journal, key_of, unlucky
from shapedoc.grade.journal import Journal
from shapedoc.grade.result import GradedSubmission
from shapedoc.grade.scheduler import SchedulerError
from shapedoc.grade.scheduler.chunk import Answer, job_of, request_of
from shapedoc.grade.scheduler.work import grade_chunk, versions
from shapedoc.grade.submission import Submission

__all__ = ["grade_on_cluster"]

Work = Callable[[str, str], str]

_CHUNK = 25
_AHEAD = 3
_CONNECT_S = 20
_WORKERS_S = 60
_TRIES = 3


def grade_on_cluster(
    assignment: Assignment,
    settings: Settings,
    submissions: Sequence[Submission],
    address: str,
    *,
    tls: Mapping[str, str | None] | None = None,
    jobs: int = 2,
    journal: Journal | None = None,
    told: Told = lambda done, of: None,
    work: Work = grade_chunk,
) -> Run:
    """The results of all submissions, in their order; those that the journal knows are taken from it.

    address: of the scheduler, ``tcp://host:port`` or ``tls://host:port``. jobs: how many children each thread of a
    worker runs side by side. Raises SchedulerError: distributed is not installed, nobody answers, there are no workers,
    they have other versions, the cluster was lost.
    """
    done = from_journal(journal, submissions)
    failed: set[str] = set()
    pending = [each for each in submissions if each.name not in done]
    told(len(done), len(submissions))
    if pending:
        job = job_of(assignment, settings, jobs)
        for submission, answer in _answers(job, pending, address, tls or {}, work):
            if answer is None or not answer.lasting:
                failed.add(submission.name)
            if answer is None:
                lost = "its workers died, or lost it, every time"
                done[submission.name] = unlucky(assignment, settings, submission, lost)
            else:
                if journal is not None and answer.lasting:
                    journal.add(key_of(submission), answer.result)
                done[submission.name] = GradedSubmission.from_json(answer.result)
            told(len(done), len(submissions))
    return Run([done[each.name] for each in submissions], frozenset(failed))


def _answers(
    job: str, pending: Sequence[Submission], address: str, tls: Mapping[str, str | None], work: Work
) -> Iterator[tuple[Submission, Answer | None]]:
    """Answers as they come; None for a submission that kills whoever takes it."""
    with _connected(address, tls) as client:
        from distributed import as_completed

        threads = _ready(client)
        waiting = deque(_Chunk(tuple(pending[at : at + _CHUNK])) for at in range(0, len(pending), _CHUNK))
        running: dict[Any, _Chunk] = {}
        completed = as_completed([], loop=client.loop, raise_errors=False)
        while waiting or running:
            while waiting and len(running) < _AHEAD * threads:
                chunk = waiting.popleft()
                request = request_of(chunk.submissions)
                future = client.submit(work, job, request, key=chunk.key(job), pure=False)
                running[future.key] = chunk
                completed.add(future)
            future = next(completed)
            chunk = running.pop(future.key)
            answers = _answered(future)
            if answers is not None:
                yield from ((each, answers[each.name]) for each in chunk.submissions)
            elif len(chunk.submissions) > 1:
                waiting.extendleft(chunk.halves())
            elif chunk.tries + 1 < _TRIES:
                waiting.append(_Chunk(chunk.submissions, chunk.tries + 1))
            else:
                yield chunk.submissions[0], None


class _Chunk:
    """Submissions that travel together, and how often they went without an answer."""

    def __init__(self, submissions: tuple[Submission, ...], tries: int = 0) -> None:
        self.submissions = submissions
        self.tries = tries

    def key(self, job: str) -> str:
        """A name that two different chunks never share, nor two tries."""
        parts = [job, str(self.tries), *(key_of(each) for each in self.submissions)]
        return f"shapedoc-grade-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"

    def halves(self) -> list[_Chunk]:
        """Itself in two."""
        middle = len(self.submissions) // 2
        return [_Chunk(self.submissions[:middle]), _Chunk(self.submissions[middle:])]


def _answered(future: Any) -> dict[str, Answer] | None:
    """The answers of a chunk; None where its workers died or failed. Raises SchedulerError where the cluster is gone.

    The result is asked for, not the status: a finished future is pending again when the worker that held it dies.
    """
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    try:
        answers = [Answer(**each) for each in json.loads(future.result())]
    except (CancelledError, CommClosedError, TimeoutError) as problem:
        raise SchedulerError(f"the cluster was lost ({type(problem).__name__})") from None
    except Exception:
        return None
    return {answer.name: answer for answer in answers}


@contextmanager
def _connected(address: str, tls: Mapping[str, str | None]) -> Iterator[Any]:
    try:
        from distributed import Client
        from distributed.security import Security
    except ImportError:
        raise SchedulerError("`--scheduler` needs distributed: pip install 'shapedoc[dask]'") from None
    kind = address.partition("://")[0]
    if kind not in ("tcp", "tls"):
        raise SchedulerError(f"`{address}` is no address of a scheduler: it begins with tcp:// or tls://")
    files = {f"tls_{name}_file" if name == "ca" else f"tls_client_{name}": path for name, path in tls.items() if path}
    if kind == "tls" and len(files) < 3:
        raise SchedulerError("a scheduler at tls:// needs --tls-ca, --tls-cert and --tls-key")
    security = Security(require_encryption=True, **files) if kind == "tls" else None
    try:
        client = Client(address, security=security, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        words = str(problem).partition("\n")[0] or type(problem).__name__
        raise SchedulerError(f"no scheduler answers at {address}: {words}") from None
    try:
        yield client
    finally:
        client.close(timeout=5)


def _ready(client: Any) -> int:
    """How many threads the workers have together; SchedulerError where there are none, or theirs is other software."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS_S)
        found: dict[str, object] = client.run(versions)
        threads: dict[str, int] = client.nthreads()
    except TimeoutError:
        raise SchedulerError(f"the scheduler has no workers, after {_WORKERS_S} s") from None
    except Exception as problem:
        words = str(problem).partition("\n")[0]
        raise SchedulerError(f"a worker cannot grade: {words}; is shapedoc[grade] installed there?") from None
    mine = versions()
    for worker, theirs in sorted(found.items()):
        if theirs != mine:
            raise SchedulerError(f"the worker at {worker} has {theirs}, and this machine has {mine}")
    return max(1, sum(threads.values()))
