"""``shapedoc grade``: run submissions in a jail, and mark what they do."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from shapedoc.grade.assignment import Assignment
    from shapedoc.grade.batch import Run, Settings
    from shapedoc.grade.journal import Journal
    from shapedoc.grade.result import GradedSubmission
    from shapedoc.grade.submission import Submission

__all__ = ["command"]

_FAULT = 2


@click.command("grade", short_help="Mark students' attention exercises.")
@click.argument("assignment", required=False)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write the reports here.")
@click.option("--jobs", "-j", type=click.IntRange(min=0), default=0, metavar="N", help="Run N side by side; 0 decides.")
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="S", help="Inputs are drawn from it; 0.")
@click.option("--journal", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Note what is done.")
@click.option("--resume", is_flag=True, help="Go on from the journal.")
@click.option("--lang", type=click.Choice(("en", "zh")), default="en", help="The language of the feedback; en.")
@click.option("--lint/--no-lint", default=True, help="Look at submissions with the linter too.")
@click.option("--export", "exports", multiple=True, metavar="FORMAT[:PATH]", help="Also write the marks in a format.")
@click.option(
    "--roster", type=click.Path(path_type=Path, dir_okay=False), metavar="CSV", help="Students' ids and names."
)
@click.option(
    "--gradescope-autograder",
    "autograder",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="ZIP",
    help="Write the autograder of ASSIGNMENT for Gradescope; nothing is marked.",
)
@click.option("--new", type=click.Path(path_type=Path), metavar="NAME", help="Begin an assignment of your own.")
@click.option("--published", is_flag=True, help="Tell students what waits for publication.")
@click.option("--allow-unsandboxed", is_flag=True, help="Run submissions even where the kernel cannot confine them.")
@click.option("--scheduler", metavar="ADDRESS", help="Grade on this Dask cluster: tcp://HOST:PORT or tls://HOST:PORT.")
@click.option("--tls-ca", type=click.Path(dir_okay=False), metavar="FILE", help="For tls://: who signs certificates.")
@click.option("--tls-cert", type=click.Path(dir_okay=False), metavar="FILE", help="For tls://: this machine's.")
@click.option("--tls-key", type=click.Path(dir_okay=False), metavar="FILE", help="For tls://: its key.")
def command(
    assignment: str | None,
    paths: tuple[Path, ...],
    out: Path | None,
    jobs: int,
    seed: int,
    journal: Path | None,
    resume: bool,
    lang: str,
    lint: bool,
    exports: tuple[str, ...],
    roster: Path | None,
    autograder: Path | None,
    new: Path | None,
    published: bool,
    allow_unsandboxed: bool,
    scheduler: str | None,
    tls_ca: str | None,
    tls_cert: str | None,
    tls_key: str | None,
) -> int:
    """Run the submissions at PATHS in a jail and mark them by ASSIGNMENT.

    ASSIGNMENT is the name of one that ships, or a folder with an assignment.toml. PATHS are .py and .ipynb files,
    archives of them, and folders of such.

    Exits with 0 when every submission has full marks, with 1 when one has not, with 2 when something was not graded
    through a fault of the grader.
    """
    _need_packages()
    from shapedoc.grade.assignment import shipped

    if new is not None:
        return _begin(new)
    if assignment is None:
        raise click.UsageError(f"which assignment? A folder with an assignment.toml, or one of {', '.join(shipped())}")
    if autograder is not None:
        return _bundle(assignment, autograder, seed)
    if not paths:
        raise click.UsageError("which submissions? Name files, archives or folders after the assignment")
    if resume and journal is None:
        raise click.UsageError("`--resume` needs `--journal FILE`, the journal to go on from")
    tls = {"ca": tls_ca, "cert": tls_cert, "key": tls_key}
    with _said(journal):
        from shapedoc.grade.assignment import load
        from shapedoc.grade.batch import Settings
        from shapedoc.grade.writing import write_reports

        settings = Settings(seed, "zh" if lang == "zh" else "en", lint)
        loaded = load(assignment)
        submissions = _read(loaded, paths)
        _check_exports(exports, out, roster)
        with ExitStack() as stack:
            kept = stack.enter_context(_journal(journal, loaded, settings, resume)) if journal else None
            if scheduler is not None:
                run = _on_cluster(loaded, settings, submissions, kept, jobs, scheduler, tls)
            else:
                run = _here(loaded, settings, submissions, kept, jobs, allow_unsandboxed, [*paths, out, journal])
        if out is not None:
            write_reports(run.results, out, published=published)
        _export(run.results, exports, out, roster, published)
        _tell(run.results, out, published)
    if run.unlucky:
        return _FAULT
    return int(any(result.status != "passed" for result in run.results))


def _begin(folder: Path) -> int:
    from shapedoc.grade.assignment import AssignmentError
    from shapedoc.grade.scaffold import new_assignment

    try:
        written = new_assignment(folder)
    except AssignmentError as problem:
        raise click.UsageError(str(problem)) from None
    for path in written:
        click.echo(path)
    click.echo(f"try it: shapedoc grade {folder} {folder}/reference.py")
    return 0


def _need_packages() -> None:
    if sys.platform == "win32":
        raise click.UsageError("`shapedoc grade` needs Linux, whose kernel confines submissions")
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise click.UsageError("`shapedoc grade` needs numpy and torch: pip install 'shapedoc[grade]'") from None


@contextmanager
def _said(journal: Path | None) -> Iterator[None]:
    """Turn what an instructor can mend into a message and exit code 2."""
    from shapedoc.grade.assignment import AssignmentError
    from shapedoc.grade.jail.client import JailFault, NoSandbox
    from shapedoc.grade.journal import JournalError
    from shapedoc.grade.marking import ReferenceFailed
    from shapedoc.grade.scheduler import SchedulerError
    from shapedoc.grade.writing import ExportError

    try:
        yield
    except (
        AssignmentError, ExportError, JailFault, JournalError, NoSandbox, ReferenceFailed, SchedulerError
    ) as problem:  # fmt: skip
        click.echo(f"shapedoc: {problem}", err=True)
        raise click.exceptions.Exit(_FAULT) from None
    except KeyboardInterrupt:
        if journal is not None:
            click.echo(f"shapedoc: what is done stands in {journal}; --resume goes on from there", err=True)
        raise


def _read(assignment: Assignment, paths: Sequence[Path]) -> list[Submission]:
    from shapedoc.grade.submission import find, read

    entries = find(paths)
    if not entries:
        raise click.UsageError(f"there are no submissions in {', '.join(map(str, paths))}")
    return [read(entry, list(assignment.targets)) for entry in entries]


@contextmanager
def _journal(path: Path, assignment: Assignment, settings: Settings, resume: bool) -> Iterator[Journal]:
    from shapedoc.grade.batch import made_with
    from shapedoc.grade.journal import Journal

    with Journal(path, made_with(assignment, settings), resume=resume) as journal:
        if journal.done:
            click.echo(f"shapedoc: {len(journal.done)} submissions stand in {path} already", err=True)
        yield journal


def _here(
    assignment: Assignment,
    settings: Settings,
    submissions: Sequence[Submission],
    journal: Journal | None,
    jobs: int,
    unsandboxed: bool,
    hidden: Sequence[Path | None],
) -> Run:
    from shapedoc.cli.progress import progress
    from shapedoc.grade.batch import Grader, grade_all
    from shapedoc.grade.jail.client import Jail

    secret = [path for path in hidden if path is not None]
    with (
        Jail(unsandboxed=unsandboxed, hidden=secret) as jail,
        progress(sys.stderr, os.environ, unit="submissions", rate=True) as told,
    ):
        if not jail.sandboxed:
            click.echo("shapedoc: submissions run unconfined: they can read and change what you can", err=True)
        grader = Grader(assignment, settings, jail)
        return grade_all(grader, submissions, jobs=jobs or _processors(), journal=journal, told=told)


def _on_cluster(
    assignment: Assignment,
    settings: Settings,
    submissions: Sequence[Submission],
    journal: Journal | None,
    jobs: int,
    address: str,
    tls: dict[str, str | None],
) -> Run:
    from shapedoc.cli.progress import progress
    from shapedoc.grade.scheduler.dask import grade_on_cluster

    with progress(sys.stderr, os.environ, unit="submissions", rate=True) as told:
        return grade_on_cluster(
            assignment, settings, submissions, address, tls=tls, jobs=jobs or 2, journal=journal, told=told
        )


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _bundle(assignment: str, out: Path, seed: int) -> int:
    """Write the zip that Gradescope takes."""
    with _said(None):
        from shapedoc.grade.assignment import folder_of, load
        from shapedoc.grade.exports import ExportError
        from shapedoc.grade.exports.autograder import bundle

        load(assignment)
        try:
            bundle(folder_of(assignment), out, seed)
        except OSError as problem:
            raise ExportError(f"cannot write {problem.filename or out}: {problem.strerror}") from None
    click.echo(f"{out}: upload it at Gradescope, under Configure Autograder")
    return 0


def _check_exports(wanted: Sequence[str], out: Path | None, roster: Path | None) -> None:
    """Refuse before the run what could not be written after it."""
    from shapedoc.grade.exports import FORMATS, ExportError, RosterError, read_roster

    if roster is not None:
        try:
            read_roster(roster)
        except RosterError as problem:
            raise ExportError(str(problem)) from None

    for each in wanted:
        name, _, path = each.partition(":")
        if name not in FORMATS:
            from shapedoc.config import did_you_mean

            raise ExportError(
                f"no export is called `{name}`{did_you_mean(name, FORMATS)}; there are: {', '.join(FORMATS)}"
            )
        if not path and out is None:
            raise ExportError(f"where is the export to be written? Name it, as in `{name}:PATH`, or give `--out DIR`")


def _export(
    results: Sequence[GradedSubmission], wanted: Sequence[str], out: Path | None, roster: Path | None, published: bool
) -> None:
    from shapedoc.grade.writing import export

    for each in wanted:
        export(results, each, out, roster=roster, published=published)


def _tell(results: Sequence[GradedSubmission], out: Path | None, published: bool) -> None:
    """The whole report of one submission; of several, a line each and how many ended how."""
    from shapedoc.grade.pages.terminal import render
    from shapedoc.grade.pages.text import number, safe_line
    from shapedoc.report.colour import palette_for

    if len(results) == 1:
        for line in render(results[0], palette_for(sys.stdout.isatty(), os.environ), published=published):
            click.echo(line, color=True)
    else:
        width = min(40, max(len(result.name) for result in results))
        for result in results:
            message = f"  {safe_line(result.message)}" if result.message else ""
            name = safe_line(result.name)
            score = f"{number(result.score)}/{number(result.max_score)}"
            click.echo(f"{name:{width}}  {score}  {result.status}{message}")
        counts = Counter(result.status for result in results)
        told = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        click.echo(f"{len(results)} submissions: {told}")
    if out is not None:
        click.echo(f"reports: {out / 'class.html'}" if len(results) > 1 else f"reports: {out}")
