"""The parent's side of the jail: starts the fork server, hands it plans, and believes nothing that comes back.

`Jail.run` may be called from several threads at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shapedoc.grade.jail import landlock, seccomp
from shapedoc.grade.jail.hearing import Hearing
from shapedoc.grade.jail.wire import BadFrame, TooMuch, encode_plan
from shapedoc.grade.plan import Limits, Outcome, Plan

__all__ = ["Jail", "JailFault", "NoSandbox", "sandbox_problem"]

_START_S = 180.0
_END_S = 10.0
_MOMENT_S = 0.5
_TRIES = 3
_MESSAGE_BYTES = 1 << 16
_PIECE = 1 << 16
_ROOT = str(Path(__file__).resolve().parents[3])


class NoSandbox(RuntimeError):
    """The kernel cannot confine a submission; the message says why and names the way out."""


class JailFault(RuntimeError):
    """The grader's own machinery failed, through no fault of the submission."""


class _Died(Exception):
    """The fork server is gone, or a child was lost before the submission began."""


def sandbox_problem() -> str | None:
    """Why submissions cannot be confined on this machine; None where they can."""
    if sys.platform != "linux":
        return f"grading needs Linux, and this is {sys.platform}"
    if landlock.abi() < 1:
        return "this kernel has no Landlock (Linux 5.13 or newer, with `landlock` among the modules in `lsm=`)"
    if not seccomp.supported():
        return f"the system calls of {os.uname().machine} are not known to the jail"
    return None


class Jail:
    """A fork server and its children.

    hidden: paths that no child may read, beside all that is not named in `visible.py`. Raises NoSandbox where the
    kernel cannot confine a submission, unless `unsandboxed`: then only limits and an ordinary user's rights stand
    between a submission and the machine.
    """

    def __init__(self, *, unsandboxed: bool = False, hidden: Sequence[str | os.PathLike[str]] = ()) -> None:
        problem = sandbox_problem()
        if problem is not None and (not unsandboxed or sys.platform != "linux"):
            way_out = "; --allow-unsandboxed runs submissions unconfined" if sys.platform == "linux" else ""
            raise NoSandbox(f"submissions cannot be confined: {problem}{way_out}")
        self._settings = {"sandboxed": problem is None, "hidden": [os.path.abspath(path) for path in hidden]}
        self._lock = threading.Lock()
        self._server: _Server | None = None

    @property
    def sandboxed(self) -> bool:
        """Whether submissions are confined by the kernel."""
        return bool(self._settings["sandboxed"])

    def __enter__(self) -> Self:
        """The server starts with the first submission."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server and whatever it still runs."""
        self.close()

    def close(self) -> None:
        """Stop the server and whatever it still runs."""
        with self._lock:
            if self._server is not None:
                self._server.stop()
            self._server = None

    @property
    def pid(self) -> int:
        """The process id of the fork server."""
        return self._current().pid

    def run(self, source: str, plan: Plan, limits: Limits | None = None) -> Outcome:
        """Load `source` in a fresh child and carry out `plan`. Raises JailFault when the machinery fails repeatedly."""
        limits = limits or Limits()
        problem = ""
        for _ in range(_TRIES):
            server = self._current()
            try:
                return server.run(encode_plan(source, plan), plan, limits)
            except _Died as fault:
                problem = str(fault)
                self._forget(server)
        raise JailFault(f"the fork server failed {_TRIES} times: {problem}")

    def _current(self) -> _Server:
        with self._lock:
            if self._server is None:
                self._server = _Server(self._settings)
            return self._server

    def _forget(self, server: _Server) -> None:
        with self._lock:
            if self._server is server and not server.alive():
                server.stop()
                self._server = None


class _Server:
    """One fork server process."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # Nothing of this environment goes along; strings hash alike in every run.
            environment = {
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "HOME": "/nonexistent",
                "PYTHONHASHSEED": "0",
                "PYTHONDONTWRITEBYTECODE": "1",
                "OMP_NUM_THREADS": "1",
                "MKL_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "TZ": "UTC",
                # Memory in large pages makes a fork four times cheaper: there is less to copy of the page tables.
                "PYTHONMALLOC": "malloc",
                "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
            }
            script = str(Path(__file__).with_name("fork_server.py"))
            self._process = subprocess.Popen(
                # The last word tells whoever looks at a list of processes whose server, and children, these are.
                [sys.executable, "-s", "-P", "-W", "ignore", script, str(theirs.fileno()), _ROOT, f"of-{os.getpid()}"],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        try:
            self._control.send(json.dumps(settings).encode())
            self._control.settimeout(_START_S)
            hello = self._control.recv(_MESSAGE_BYTES)
        except OSError as problem:
            hello = b""
            if isinstance(problem, TimeoutError):
                self._process.kill()
        if not hello:
            said = self._said()
            self.stop()
            raise JailFault(f"the fork server did not start: {said or 'it said nothing'}")
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._control.settimeout(None)
        self.pid = self._process.pid

    def _said(self) -> str:
        assert self._process.stderr is not None
        try:
            _, errors = self._process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            return ""
        lines = errors.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def alive(self) -> bool:
        """Whether the process still runs; one that is just ending has a moment to do so."""
        try:
            self._process.wait(_MOMENT_S)
        except subprocess.TimeoutExpired:
            return True
        return False

    def stop(self) -> None:
        """Close the control socket, at which the server ends; kill it where it does not."""
        self._control.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def run(self, data: bytes, plan: Plan, limits: Limits) -> Outcome:
        """One job, from the descriptors to the outcome. Raises _Died."""
        replies, replies_in = os.pipe()
        printed, printed_in = os.pipe()
        ending, ending_in = socket.socketpair()
        job = os.memfd_create("plan", os.MFD_CLOEXEC)
        theirs = [job, replies_in, printed_in, ending_in.fileno()]
        try:
            _write_all(job, data)
            message = {
                "cpu_s": limits.cpu_s,
                "memory_bytes": limits.memory_bytes,
                "result_bytes": limits.result_bytes,
            }
            try:
                socket.send_fds(self._control, [json.dumps(message).encode()], theirs)
            except OSError as problem:
                raise _Died(f"it takes no job: {problem}") from None
            finally:
                ending_in.close()
                for each in (job, replies_in, printed_in):
                    os.close(each)
            return _followed(replies, printed, ending, plan, limits)
        finally:
            ending.close()
            os.close(replies)
            os.close(printed)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _followed(replies: int, printed: int, ending: socket.socket, plan: Plan, limits: Limits) -> Outcome:
    """Listen to a child until it has ended; kill it when its time is up or it sends what it should not."""
    began = time.monotonic()
    deadline = began + limits.wall_s
    hearing = Hearing(plan, limits)
    poll = select.poll()
    for each in (replies, printed, ending.fileno()):
        poll.register(each, select.POLLIN)
    ended: dict[str, Any] | None = None
    open_ = {replies, printed, ending.fileno()}
    while open_:
        left = deadline - time.monotonic()
        events = poll.poll(min(max(left, 0), 60.0) * 1000 + 1)
        # What has come in time counts, even where this process was late itself; a flood does not hold time up.
        if left <= 0 and (not events or left < -_MOMENT_S):
            if hearing.killed is not None:
                raise _Died("a child that was killed did not end")
            hearing.killed = "timeout"
            _ask_to_kill(ending)
            deadline = time.monotonic() + _END_S
            continue
        for descriptor, _ in events:
            if descriptor == ending.fileno():
                ended = _ending(ending)
                poll.unregister(descriptor)
                open_.discard(descriptor)
                continue
            data = os.read(descriptor, _PIECE)
            if not data:
                poll.unregister(descriptor)
                open_.discard(descriptor)
            elif descriptor == printed:
                hearing.printed(data)
            elif hearing.killed is None:
                try:
                    hearing.replies(data)
                except BadFrame as problem:
                    hearing.killed = "too much" if isinstance(problem, TooMuch) else "bad"
                    _ask_to_kill(ending)
    if ended is None:
        raise _Died("it died")
    if "fault" in ended:
        raise _Died(str(ended["fault"]))
    if not hearing.began and hearing.killed is None:
        said = hearing.printed_text().strip().splitlines()
        raise _Died(f"a child could not be confined: {said[-1] if said else 'exit ' + str(ended['code'])}")
    if ended["signal"] == signal.SIGKILL and hearing.killed is None and ended["cpu_s"] < limits.cpu_s:
        hearing.killed = "memory"
    return hearing.outcome(ended["signal"], ended["code"], time.monotonic() - began)


def _ask_to_kill(ending: socket.socket) -> None:
    with suppress(OSError):
        ending.send(b"k")


def _ending(ending: socket.socket) -> dict[str, Any] | None:
    """How the child ended, in the words of the server, which is ours; None where the server died."""
    try:
        data = ending.recv(_MESSAGE_BYTES)
    except OSError:
        return None
    if not data:
        return None
    told: dict[str, Any] = json.loads(data)
    return told
