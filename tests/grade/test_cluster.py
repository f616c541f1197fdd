"""Grading on a cluster: a real scheduler and real workers on loopback, killed in the middle."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shapedoc.grade.assignment import SHIPPED, Assignment, load
from shapedoc.grade.batch import Grader, Settings, grade_all, made_with
from shapedoc.grade.jail.client import Jail
from shapedoc.grade.journal import Journal
from shapedoc.grade.result import GradedSubmission
from shapedoc.grade.scheduler import SchedulerError
from shapedoc.grade.scheduler.chunk import job_of, read_job, read_submissions, request_of
from shapedoc.grade.scheduler.dask import grade_on_cluster
from shapedoc.grade.submission import Submission
from tests.grade import cluster_work

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.full,
    # Of distributed, when it is cut off.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]

ROOT = Path(__file__).resolve().parents[2]
RIGHT = (SHIPPED / "masked-softmax" / "reference.py").read_text(encoding="utf-8")
WRONG = "import torch\ndef masked_softmax(scores, lengths):\n    return torch.softmax(scores, -1)\n"
SETTINGS = Settings(seed=3, lint=False)


class Cluster:
    """A scheduler and its workers, processes of their own; `tls` names the options for certificates."""

    def __init__(self, workers: int, log: Path, tls: tuple[str, ...] = ()) -> None:
        self._log = log
        self._tls = tls
        self.processes: list[subprocess.Popen[bytes]] = []
        said = log / "scheduler"
        self.scheduler = self._start(said, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *tls)
        self.address = self._wait_for(said, r"(t(?:cp|ls)://127\.0\.0\.1:\d+)")
        self.workers = [self.worker() for _ in range(workers)]

    def worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one thread."""
        said = self._log / f"worker{len(self.processes)}"
        worker = self._start(
            said, "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
            "--local-directory", str(self._log / "space"), "--death-timeout", "60", *self._tls,
        )  # fmt: skip
        self._wait_for(said, "(Registered to)")
        return worker

    def _start(self, said: Path, *arguments: str) -> subprocess.Popen[bytes]:
        with said.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
            )
        self.processes.append(process)
        return process

    @staticmethod
    def _wait_for(said: Path, pattern: str) -> str:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if found := re.search(pattern, said.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        raise AssertionError(said.read_text(errors="replace")[-2000:])

    def stop(self) -> None:
        """Kill what is left."""
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler with two workers."""
    log = tmp_path / "cluster"
    log.mkdir()
    running = Cluster(2, log)
    yield running
    running.stop()


@pytest.fixture
def assignment() -> Assignment:
    """The first one that ships."""
    return load("masked-softmax")


def _class(count: int) -> list[Submission]:
    return [Submission(f"s{n:03}", f"# {n}\n{WRONG if n % 3 else RIGHT}", f"s{n:03}.py") for n in range(count)]


def _plain(results: list[GradedSubmission]) -> list[str]:
    return [result.to_json(timed=False) for result in results]


def _here(assignment: Assignment, submissions: list[Submission]) -> list[str]:
    with Jail() as jail:
        return _plain(grade_all(Grader(assignment, SETTINGS, jail), submissions, jobs=2).results)


def test_a_worker_killed_in_mid_run_costs_nothing(cluster: Cluster, assignment: Assignment, tmp_path: Path) -> None:
    submissions = _class(200)
    journal = Journal(tmp_path / "run.jsonl", made_with(assignment, SETTINGS), resume=False)
    killed: list[int] = []

    def told(done: int, of: int) -> None:
        if done > 30 and not killed:
            cluster.workers[0].send_signal(signal.SIGKILL)
            killed.append(done)

    with journal:
        run = grade_on_cluster(assignment, SETTINGS, submissions, cluster.address, journal=journal, told=told)
    assert killed
    assert not run.unlucky
    lines = (tmp_path / "run.jsonl").read_text().splitlines()[1:]
    assert len(lines) == len(set(lines)) == 200
    assert _plain(run.results) == _here(assignment, submissions)
    # The worker's grading processes went with it.
    time.sleep(3)
    assert _stations(cluster.workers[0].pid) == []


def test_a_scheduler_that_dies_is_said_and_resumed(cluster: Cluster, assignment: Assignment, tmp_path: Path) -> None:
    submissions = _class(120)
    path = tmp_path / "run.jsonl"

    def told(done: int, of: int) -> None:
        if done == 25:
            for process in cluster.processes:
                process.send_signal(signal.SIGKILL)

    with Journal(path, made_with(assignment, SETTINGS), resume=False) as journal:
        with pytest.raises(SchedulerError, match="the cluster was lost"):
            grade_on_cluster(assignment, SETTINGS, submissions, cluster.address, journal=journal, told=told)
        assert 25 <= len(journal.done) < 120
    with Journal(path, made_with(assignment, SETTINGS), resume=True) as journal, Jail() as jail:
        run = grade_all(Grader(assignment, SETTINGS, jail), submissions, jobs=2, journal=journal)
    assert _plain(run.results) == _here(assignment, submissions)
    lines = path.read_text().splitlines()[1:]
    assert len(lines) == len(set(lines)) == 120


def test_a_poison_submission_is_isolated(cluster: Cluster, assignment: Assignment, tmp_path: Path) -> None:
    submissions = _class(26)
    submissions[17] = replace(submissions[17], text=cluster_work.POISON)
    keep = threading.Event()

    def replace_workers() -> None:
        while not keep.wait(0.2):
            for place, worker in enumerate(cluster.workers):
                if worker.poll() is not None:
                    cluster.workers[place] = cluster.worker()

    nanny = threading.Thread(target=replace_workers)
    nanny.start()
    try:
        run = grade_on_cluster(assignment, SETTINGS, submissions, cluster.address, work=cluster_work.grade_chunk_or_die)
    finally:
        keep.set()
        nanny.join()
    assert run.unlucky == {"s017"}
    poisoned = run.results[17]
    assert poisoned.status == "not_gradable"
    assert "which is no fault of the submission" in poisoned.message
    others = [submission for submission in submissions if submission.name != "s017"]
    assert _plain([result for result in run.results if result.name != "s017"]) == _here(assignment, others)


def test_a_cluster_that_is_not_there_is_said(assignment: Assignment) -> None:
    with pytest.raises(SchedulerError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        grade_on_cluster(assignment, SETTINGS, _class(1), "tcp://127.0.0.1:9")
    with pytest.raises(SchedulerError, match="needs --tls-ca, --tls-cert and --tls-key"):
        grade_on_cluster(assignment, SETTINGS, _class(1), "tls://127.0.0.1:9")


def test_a_cluster_behind_tls(assignment: Assignment, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificates")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=shapedoc",
         "-keyout", key, "-out", certificate], check=True, capture_output=True,
    )  # fmt: skip
    log = tmp_path / "cluster"
    log.mkdir()
    files = ("--tls-ca-file", str(certificate), "--tls-cert", str(certificate), "--tls-key", str(key))
    cluster = Cluster(1, log, ("--protocol", "tls", *files))
    try:
        assert cluster.address.startswith("tls://")
        tls = {"ca": str(certificate), "cert": str(certificate), "key": str(key)}
        run = grade_on_cluster(assignment, SETTINGS, _class(4), cluster.address, tls=tls)
        assert [result.status for result in run.results] == ["passed", "failed", "failed", "passed"]
    finally:
        cluster.stop()


def test_what_is_shipped_is_what_is_there(assignment: Assignment) -> None:
    shipped, settings, jobs = read_job(job_of(assignment, SETTINGS, 2))
    assert (shipped, settings, jobs) == (assignment, SETTINGS, 2)
    submissions = _class(3)
    assert read_submissions(request_of(submissions)) == submissions


def _stations(parent: int) -> list[int]:
    """Grading processes that a worker started, whether it lives or not."""
    found = []
    for name in os.listdir("/proc"):
        try:
            command = Path(f"/proc/{name}/cmdline").read_bytes()
            state = Path(f"/proc/{name}/stat").read_text()
        except (OSError, ValueError):
            continue
        if b"shapedoc.grade.scheduler.station" in command and int(state.rpartition(")")[2].split()[1]) in (parent, 1):
            found.append(int(name))
    return found


def test_driver_scheduler_and_workers_killed_at_random_in_a_run_of_600(tmp_path: Path, record_property: Any) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    for submission in _class(600):
        (folder / submission.file).write_text(submission.text)
    journal, draw = tmp_path / "run.jsonl", random.Random(7)
    kills: Counter[str] = Counter()

    def lines() -> int:
        return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0

    def driver(*more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "shapedoc", "grade", "masked-softmax", str(folder), "--seed", "3", "--no-lint"]
        return subprocess.Popen(
            [*command, "--journal", str(journal), "--resume", *more],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    for victim in ("worker", "driver", "scheduler", "worker", "driver"):
        log = tmp_path / f"cluster{sum(kills.values())}"
        log.mkdir()
        cluster = Cluster(2, log)
        try:
            process = driver("--scheduler", cluster.address)
            _until(lines, lines() + draw.randint(20, 80), process)
            assert process.poll() is None, process.communicate()
            pids = {"worker": cluster.workers[0].pid, "driver": process.pid, "scheduler": cluster.scheduler.pid}
            os.kill(pids[victim], signal.SIGKILL)
            kills[victim] += 1
            if victim == "worker":
                _until(lines, lines() + draw.randint(20, 60), process)
                process.kill()
                kills["driver"] += 1
            process.communicate()
            assert process.returncode in (2, -signal.SIGKILL)
        finally:
            cluster.stop()
    assert lines() < 600
    last = driver("--out", str(tmp_path / "out"))
    said, _ = last.communicate()
    assert last.returncode == 1
    assert said.splitlines()[600] == "600 submissions: 400 failed, 200 passed"
    keys = [json.loads(line)["key"] for line in journal.read_text().splitlines()[1:]]
    assert len(keys) == len(set(keys)) == 600
    told = ", ".join(f"{name} {count} times" for name, count in sorted(kills.items()))
    record_property("measured", f"grade: 600 submissions, killed: {told}; 600 graded once each after resume")


def _until(lines: Callable[[], int], wanted: int, process: subprocess.Popen[str]) -> None:
    """Wait until the journal has so many lines, or the process has ended."""
    end = time.monotonic() + 240
    while lines() < wanted and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.02)
