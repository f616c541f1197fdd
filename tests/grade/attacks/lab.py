"""A place to attack from: runs hostile submissions among honest ones, and looks for what they left behind.

``python -m tests.grade.attacks.lab NAME...`` runs the named attacks and prints, as JSON, how each ended, what it earned
and every trace that it left. It runs as whoever starts it; files that an attack is after are open to all, so that
nothing but the jail protects them.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shapedoc.grade.assignment import load
from shapedoc.grade.batch import Grader, Settings, grade_all
from shapedoc.grade.jail import seccomp
from shapedoc.grade.jail.client import Jail
from shapedoc.grade.plan import Call, Limits, Outcome, Plan
from shapedoc.grade.submission import Entry, read

__all__ = ["FOLDER", "Attack", "attacks", "main"]

FOLDER = Path(__file__).parent / "submissions"
ROOT = Path(__file__).resolve().parents[3]
_LIMITS = Limits(wall_s=8, cpu_s=2, memory_bytes=1 << 30, result_bytes=16 << 20)
_JOBS = 6
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/home", "/root", "/", "/var/crash")
_MARK = "shapedoc-attack"
_NOBODY = 65534

HONEST = """
import torch

def masked_softmax(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None]
    mask = mask[:, None].expand_as(scores) if scores.dim() == 3 else mask
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile submission and its header: what it tries, how its child may end, whether it deserves marks."""

    name: str
    source: str
    tries: str
    ends: tuple[str, ...]
    marks: float


def attacks() -> list[Attack]:
    """All attacks, by name."""
    return [_attack(path) for path in sorted(FOLDER.glob("*.py"))]


def _attack(path: Path) -> Attack:
    source = path.read_text(encoding="utf-8")
    head = re.match(r'"""Tries: (.+)\n\nexpected: (.+)\nmarks: (none|all)\n"""\n', source)
    assert head is not None, path
    return Attack(path.stem, source, head[1], tuple(head[2].split()), float(head[3] == "all"))


def main(names: Sequence[str]) -> dict[str, object]:
    """Run these attacks, an honest submission before each and after all, and say what came of it.

    With ``--marked`` among the names they are then marked by the first exercise, as a class would be.
    """
    chosen = [each for each in attacks() if each.name in names]
    lab = Path(tempfile.mkdtemp(prefix="shapedoc-lab-"))
    try:
        with _Listening() as listening, Jail() as jail:
            _furnish(lab)
            watch = _Watch(lab, jail.pid)
            sources = []
            for attack in chosen:
                sources += [HONEST, _aimed(attack.source, lab, jail.pid, listening.port)]
            with ThreadPoolExecutor(_JOBS) as pool:
                ran = list(pool.map(lambda given: _run(jail, *given), enumerate([*sources, HONEST])))
            marked = _marked(jail, chosen, sources[1::2]) if "--marked" in names else {}
            traces = [*watch.traces(jail.pid), *listening.traces()]
        return {
            "user": os.getuid(),
            "attacks": {attack.name: told for attack, told in zip(chosen, ran[1::2], strict=True)},
            "honest": [told["marks"] for told in ran[::2]],
            "marked": marked,
            "traces": [*traces, *_processes(os.getuid(), watch.before)],
        }
    finally:
        shutil.rmtree(lab, ignore_errors=True)


def _run(jail: Jail, number: int, source: str) -> dict[str, object]:
    plan, expected = _plan(number)
    outcome = jail.run(source, plan, _LIMITS)
    return {
        "ended": outcome.status,
        "said": outcome.message,
        "marks": _marks(outcome, expected),
        "printed": [line for line in outcome.printed.splitlines() if line.startswith(("READ", "MADE"))],
        "seconds": round(outcome.seconds, 1),
    }


def _marked(jail: Jail, chosen: Sequence[Attack], sources: Sequence[str]) -> dict[str, float]:
    """The share of the points that each gets from the assignment that ships, an honest one last."""
    assignment = replace(load("masked-softmax"), time_s=2, memory_bytes=_LIMITS.memory_bytes)
    with tempfile.TemporaryDirectory() as folder:
        submissions = []
        for name, source in zip([*(each.name for each in chosen), "honest"], [*sources, HONEST], strict=True):
            file = Path(folder, f"{name}.py")
            file.write_text(source, encoding="utf-8")
            submissions.append(read(Entry(name, file), list(assignment.targets)))
        grader = Grader(assignment, Settings(seed=5, lint=False), jail)
        results = grade_all(grader, submissions, jobs=_JOBS).results
    return {result.name: result.score / result.max_score for result in results}


def _plan(number: int) -> tuple[Plan, dict[str, npt.NDArray[np.float64]]]:
    draw = np.random.default_rng([7, number])
    steps, expected = [], {}
    for name, shape in (("first", (1, 2, 4)), ("second", (3, 2, 5)), ("third", (2, 4, 7))):
        scores = draw.standard_normal(shape).astype(np.float32)
        lengths = draw.integers(1, shape[-1] + 1, shape[0])
        raised = np.exp(scores.astype(np.float64)) * (np.arange(shape[-1]) < lengths[:, None, None])
        expected[name] = raised / raised.sum(-1, keepdims=True)
        steps.append(Call(name, "masked_softmax", (scores, lengths)))
    return Plan(tuple(steps), number), expected


def _marks(outcome: Outcome, expected: Mapping[str, npt.NDArray[np.float64]]) -> float:
    """The share of the cases that are right, by arrays alone."""
    right = 0
    for name, weights in expected.items():
        arrays = outcome.replies[name].arrays
        right += bool(
            arrays and arrays[0].shape == weights.shape and np.allclose(arrays[0], weights, atol=1e-5, equal_nan=False)
        )
    return right / len(expected)


def _furnish(lab: Path) -> None:
    """What is worth attacking, writable by everybody."""
    for name, text in (("secret/solution.py", HONEST), ("students/ada.py", HONEST), ("canary", "sings")):
        file = lab / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o666)
        file.parent.chmod(0o777)
    lab.chmod(0o777)


def _aimed(source: str, lab: Path, server: int, port: int) -> str:
    column = 0 if platform.machine() == "x86_64" else 1
    numbers = {**seccomp._FATAL, "clone": seccomp._CLONE, "tgkill": seccomp._TGKILL}
    source = re.sub(r"@NR_(\w+)@", lambda match: str(numbers[match[1]][column]), source)
    for place, value in (("LAB", lab), ("ROOT", ROOT), ("SERVER", server), ("PARENT", os.getpid()), ("PORT", port)):
        source = source.replace(f"@{place}@", str(value))
    return source


class _Listening:
    """A port of TCP and of UDP that nobody should reach."""

    def __enter__(self) -> _Listening:
        self._stream = socket.create_server(("127.0.0.1", 0))
        self.port = self._stream.getsockname()[1]
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("127.0.0.1", self.port))
        for each in (self._stream, self._datagrams):
            each.setblocking(False)
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._datagrams.close()

    def traces(self) -> list[str]:
        """What has come."""
        found = []
        for what, receive in (("connection", self._stream.accept), ("datagram", lambda: self._datagrams.recv(1))):
            try:
                receive()
            except BlockingIOError:
                continue
            found.append(f"a {what} got out")
        return found


class _Watch:
    """What is there before the attacks."""

    def __init__(self, lab: Path, server: int) -> None:
        self._lab = lab
        self._server = server
        self._content = dict(_content(lab))
        self._state = _state(server)
        self._left = set(_left())
        self._ports = set(_ports())
        self.before = set(_pids())

    def traces(self, server: int) -> list[str]:
        """What is there now and was not, or is no more what it was."""
        found = []
        if server != self._server:
            found.append("the fork server died")
        else:
            found += [f"the fork server has another {name}" for name in _differing(self._state, _state(server))]
            found += [f"child {pid} of the fork server is left" for pid in _children(server)]
        found += [f"{name} was changed" for name in _differing(self._content, dict(_content(self._lab)))]
        found += [f"{each} was left" for each in set(_left()) - self._left]
        found += [f"port {each} was left open" for each in set(_ports()) - self._ports]
        return found


def _differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))


def _content(lab: Path) -> Iterator[tuple[str, object]]:
    for path in [lab, *lab.rglob("*")]:
        state = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        yield str(path), (data, state.st_mode, state.st_uid, state.st_mtime_ns, state.st_nlink, os.listxattr(path))


def _state(server: int) -> dict[str, object]:
    return {
        "limit": [resource.prlimit(server, each) for each in (resource.RLIMIT_AS, resource.RLIMIT_CPU)],
        "priority": os.getpriority(os.PRIO_PROCESS, server),
        "affinity": os.sched_getaffinity(server),
        "scheduler": os.sched_getscheduler(server),
    }


def _left() -> Iterator[str]:
    """Files and shared memory that an attack may have left: by name, or because the children's user owns them."""
    for place in _PLACES:
        try:
            entries = list(os.scandir(place))
        except OSError:
            continue
        for entry in entries:
            try:
                owner = entry.stat(follow_symlinks=False).st_uid
            except OSError:
                continue
            if entry.name.startswith(_MARK) or (owner == _NOBODY and place != "/"):
                yield entry.path
    for kind in ("shm", "msg", "sem"):
        path = Path("/proc/sysvipc", kind)
        if path.exists():
            yield from (f"{kind} {line.split()[0]}" for line in path.read_text().splitlines()[1:])


def _ports() -> Iterator[str]:
    """Sockets of the children's user, in this network."""
    users = {str(_NOBODY), str(os.getuid())} - {"0"}
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        path = Path("/proc/net", kind)
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        yield from (f"{kind} {line.split()[1]}" for line in lines if line.split()[7] in users)


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _children(server: int) -> Iterator[int]:
    for pid in _pids():
        try:
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(after_name[1]) == server and after_name[0] != "Z":
            yield pid


def _processes(user: int, before: set[int]) -> Iterator[str]:
    """Processes of the children's user that were not there before."""
    users = {_NOBODY, user} - {0}
    for pid in sorted(set(_pids()) - before - {os.getpid()}):
        try:
            owner = os.stat(f"/proc/{pid}").st_uid
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        # Children of other runs at the same time are theirs.
        if owner in users and not ("fork_server.py" in command and f"of-{os.getpid()}" not in command.split()):
            yield f"process {pid} ({command}) was left"


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
