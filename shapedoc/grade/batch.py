"""Many submissions: read here, run in the jail side by side, marked here, each in the journal before it counts."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from threading import Lock

from shapedoc.grade.assignment import Assignment, Language
from shapedoc.grade.clock import TooSlow, within
from shapedoc.grade.jail.client import Jail, JailFault
from shapedoc.grade.journal import Journal
from shapedoc.grade.marking import Prepared, ReferenceFailed, mark, not_run, prepare
from shapedoc.grade.messages import tell
from shapedoc.grade.plan import Cause, Limits, Outcome, Plan
from shapedoc.grade.result import GradedSubmission
from shapedoc.grade.submission import Submission
from shapedoc.version import __version__

__all__ = ["Grader", "Run", "Settings", "Told", "from_journal", "grade_all", "key_of", "made_with", "unlucky"]

Told = Callable[[int, int], None]
"""Takes how many submissions are done, and of how many."""

_TRIES = 2
_LINT_S = 60.0
_REFERENCES = 64
# What may be the machine's doing, not the submission's.
_DOUBTFUL = ("jail.wall", "jail.system_memory")


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the marks and the words beside assignment and submission."""

    seed: int = 0
    language: Language = "en"
    lint: bool = True
    feedback: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """The results in the order of the submissions. unlucky: the names of those that the grader itself failed at."""

    results: list[GradedSubmission]
    unlucky: frozenset[str] = frozenset()


def unlucky(assignment: Assignment, settings: Settings, submission: Submission, message: str) -> GradedSubmission:
    """The result of a submission that the grader could not run; no journal takes it, so a resume tries again."""
    return _not_gradable(assignment, settings, submission, Cause("jail.infrastructure", {"message": message}))


def _not_gradable(assignment: Assignment, settings: Settings, submission: Submission, cause: Cause) -> GradedSubmission:
    result = not_run(
        assignment,
        name=submission.name,
        seed=settings.seed,
        status="not_gradable",
        message=tell(settings.language, cause),
        language=settings.language,
    )
    return replace(result, file=submission.file)


class Grader:
    """One assignment, ready to grade; `begin` and `finish` are for one thread, `run` for many."""

    def __init__(self, assignment: Assignment, settings: Settings, jail: Jail) -> None:
        self.assignment = assignment
        self.settings = settings
        self._jail = jail
        self._limits = Limits(
            wall_s=2 * assignment.time_s + 5,
            cpu_s=math.ceil(assignment.time_s),
            memory_bytes=assignment.memory_bytes,
        )
        self._references: OrderedDict[str, Future[Outcome]] = OrderedDict()
        self._lock = Lock()

    def begin(self, submission: Submission) -> Prepared | GradedSubmission:
        """What is to be run of a submission, or its result where nothing can be."""
        if submission.problem is not None:
            return _not_gradable(self.assignment, self.settings, submission, submission.problem)
        return prepare(self.assignment, name=submission.name, seed=self.settings.seed, source=submission.text)

    def run(self, prepared: Prepared, text: str) -> tuple[Outcome, Outcome | None]:
        """Run it in the jail, and the reference where marking needs it. Raises JailFault."""
        reference = self._reference(prepared)
        outcome = self._run(text, prepared.plan)
        return outcome, reference

    def finish(
        self, submission: Submission, prepared: Prepared, outcome: Outcome, reference: Outcome | None
    ) -> GradedSubmission:
        """Marks and feedback; without the linter where that takes a minute or fails. Raises ReferenceFailed."""
        marked: GradedSubmission | None = None
        if self.settings.lint and self.settings.feedback:
            with suppress(TooSlow, RecursionError, MemoryError), within(_LINT_S):
                marked = self._mark(submission, prepared, outcome, reference, lint=True)
        if marked is None:
            marked = self._mark(submission, prepared, outcome, reference, lint=False)
        return replace(marked, file=submission.file)

    def _mark(
        self, submission: Submission, prepared: Prepared, outcome: Outcome, reference: Outcome | None, *, lint: bool
    ) -> GradedSubmission:
        return mark(
            prepared,
            outcome,
            reference,
            source=submission.text,
            language=self.settings.language,
            lint=lint,
            feedback=self.settings.feedback,
        )

    def _run(self, text: str, plan: Plan) -> Outcome:
        for _ in range(_TRIES):
            outcome = self._jail.run(text, plan, self._limits)
            if outcome.cause is None or outcome.cause.key not in _DOUBTFUL:
                break
        return outcome

    def _reference(self, prepared: Prepared) -> Outcome | None:
        """The outcome of the reference's plan; one serves all submissions with the same key."""
        if prepared.reference is None:
            return None
        with self._lock:
            known = self._references.get(prepared.reference_key)
            mine = known is None
            if known is None:
                known = self._references[prepared.reference_key] = Future()
                while len(self._references) > _REFERENCES:
                    self._references.popitem(last=False)
        if mine:
            try:
                known.set_result(self._run(self.assignment.reference, prepared.reference))
            except BaseException as problem:
                with self._lock:
                    self._references.pop(prepared.reference_key, None)
                known.set_exception(problem)
        return known.result()


def made_with(assignment: Assignment, settings: Settings) -> dict[str, object]:
    """What a journal must agree on to be continued."""
    return {
        "assignment": assignment.name,
        "digest": assignment.digest,
        "seed": settings.seed,
        "language": settings.language,
        "lint": settings.lint,
        "feedback": settings.feedback,
        "shapedoc": __version__,
        "torch": _version("torch"),
        "numpy": _version("numpy"),
    }


def key_of(submission: Submission) -> str:
    """A name for a submission with this content; an edited one has another."""
    problem = "" if submission.problem is None else tell("en", submission.problem)
    content = "\0".join((submission.name, submission.file, submission.text, problem))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def from_journal(journal: Journal | None, submissions: Sequence[Submission]) -> dict[str, GradedSubmission]:
    """The results that the journal has for these submissions, by name."""
    if journal is None:
        return {}
    known = ((key_of(each), each.name) for each in submissions)
    return {name: GradedSubmission.from_json(journal.done[key]) for key, name in known if key in journal.done}


def grade_all(
    grader: Grader,
    submissions: Sequence[Submission],
    *,
    jobs: int,
    journal: Journal | None = None,
    told: Told = lambda done, of: None,
) -> Run:
    """The results of all submissions, in their order; those that the journal knows are taken from it.

    `jobs` children run side by side. Raises ReferenceFailed where the assignment itself does not hold.
    """
    done = from_journal(journal, submissions)
    failed: set[str] = set()
    pending = [each for each in submissions if each.name not in done]
    told(len(done), len(submissions))
    for submission, result, lasting in _graded(grader, pending, jobs):
        if journal is not None and lasting:
            journal.add(key_of(submission), result.to_json())
        if not lasting:
            failed.add(submission.name)
        done[submission.name] = result
        told(len(done), len(submissions))
    return Run([done[each.name] for each in submissions], frozenset(failed))


_Running = tuple[Submission, Prepared]


def _graded(
    grader: Grader, pending: Sequence[Submission], jobs: int
) -> Iterator[tuple[Submission, GradedSubmission, bool]]:
    """Results as they come, and whether they are to last; what is read and marked is so in this thread alone."""
    running: dict[Future[tuple[Outcome, Outcome | None]], _Running] = {}
    waiting = iter(pending)
    executor = ThreadPoolExecutor(max(1, jobs), "jail")
    try:
        more = True
        while more or running:
            while more and len(running) < jobs + 2:
                submission = next(waiting, None)
                more = submission is not None
                if submission is None:
                    break
                prepared = grader.begin(submission)
                if isinstance(prepared, GradedSubmission):
                    yield submission, prepared, True
                else:
                    running[executor.submit(grader.run, prepared, submission.text)] = submission, prepared
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                submission, prepared = running.pop(future)
                yield _finished(grader, submission, prepared, future)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _finished(
    grader: Grader, submission: Submission, prepared: Prepared, future: Future[tuple[Outcome, Outcome | None]]
) -> tuple[Submission, GradedSubmission, bool]:
    for _ in range(_TRIES):
        try:
            outcome, reference = future.result()
            return submission, grader.finish(submission, prepared, outcome, reference), True
        except JailFault as problem:
            return submission, unlucky(grader.assignment, grader.settings, submission, str(problem)), False
        except ReferenceFailed:
            # The machine may have failed, once.
            future = Future()
            try:
                future.set_result(grader.run(prepared, submission.text))
            except JailFault as problem:
                future.set_exception(problem)
    outcome, reference = future.result()
    return submission, grader.finish(submission, prepared, outcome, reference), True


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
