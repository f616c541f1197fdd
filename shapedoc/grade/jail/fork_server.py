"""The fork server: imports torch once, then forks one jailed child for each job. Run as a file by the parent.

It executes nothing of a submission and never holds one: a job's content passes through as a descriptor. Over the
control socket comes one message for a job, with four descriptors: the plan, where replies go, where what is printed
goes, and a socket on which the server tells how the child ended; the parent asks there for it to be killed.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any, NoReturn

__all__ = ["main"]

_PLAN, _REPLIES, _PRINTED, _ENDING = range(4)
_MESSAGE_BYTES = 1 << 16
_SERVER_GOES, _CHILD_GOES = 500, 1000
SETUP_FAILED = 70


def main(control: int) -> None:
    """Serve until the parent closes the control socket."""
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    sock = socket.socket(fileno=control)
    settings = json.loads(sock.recv(_MESSAGE_BYTES))
    from shapedoc.grade.jail import warm

    warm.up()
    _Server(sock, settings).serve()


class _Server:
    def __init__(self, control: socket.socket, settings: dict[str, Any]) -> None:
        from shapedoc.grade.jail import landlock, limits, namespaces, warm
        from shapedoc.grade.jail.visible import allowed_paths

        self._control = control
        self._sandboxed = bool(settings["sandboxed"])
        self._rules = landlock.ruleset(allowed_paths(settings["hidden"])) if self._sandboxed else None
        # A new user namespace may read no more than nobody; what writes below /proc/self comes before it hides.
        apart = namespaces.enter() if self._sandboxed else False
        limits.first_to_go(_SERVER_GOES)
        limits.hide()
        self._endings: dict[int, socket.socket] = {}
        self._poll = select.poll()
        self._woken, wake = socket.socketpair()
        for end in (self._woken, wake):
            end.setblocking(False)
        self._wake = wake
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)
        self._settle = warm.settled()
        # Nothing that exists now is ever collected in a child, whose pages stay shared.
        gc.collect()
        gc.freeze()
        control.send(json.dumps({"ready": True, "namespaces": apart}).encode())

    def serve(self) -> None:
        """Fork, kill and reap, until the control socket is closed; children die with the server."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    if not self._job():
                        return
                elif descriptor == self._woken.fileno():
                    self._reap()
                else:
                    self._kill(descriptor)

    def _job(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 4)
        if not message:
            return False
        job = json.loads(message)
        try:
            parent = os.getpid()
            pid = os.fork()
        except OSError as problem:
            ending = socket.socket(fileno=descriptors.pop(_ENDING))
            ending.send(json.dumps({"fault": f"cannot fork: {problem.strerror}"}).encode())
            ending.close()
        else:
            if pid == 0:
                self._child(parent, job, descriptors)
            ending = socket.socket(fileno=descriptors.pop(_ENDING))
            self._endings[pid] = ending
            self._poll.register(ending, select.POLLIN)
        for each in descriptors:
            os.close(each)
        return True

    def _kill(self, descriptor: int) -> None:
        """The parent has asked for a job's end, or is gone. The child is not reaped yet, so its id is its own."""
        for pid, ending in self._endings.items():
            if ending.fileno() == descriptor:
                self._poll.unregister(ending)
                os.kill(pid, signal.SIGKILL)
                return

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            while self._woken.recv(4096):
                pass
        for pid in list(self._endings):
            reaped, status, usage = os.wait4(pid, os.WNOHANG)
            if reaped == 0:
                continue
            ending = self._endings.pop(pid)
            told = {
                "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
                "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
                "cpu_s": usage.ru_utime + usage.ru_stime,
            }
            with suppress(KeyError):
                self._poll.unregister(ending)
            with suppress(OSError):
                ending.send(json.dumps(told).encode())
            ending.close()

    def _child(self, parent: int, job: dict[str, Any], descriptors: list[int]) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            _enter(parent, job, descriptors, self._rules, self._settle)
        except BaseException:
            os.write(2, traceback.format_exc()[-2000:].encode())
            os._exit(SETUP_FAILED)
        os._exit(0)


def _enter(
    parent: int,
    job: dict[str, Any],
    descriptors: list[int],
    rules: int | None,
    settle: Callable[[], None],
) -> None:
    """Give everything up, in the order in which it can be given up, then carry out the plan."""
    from shapedoc.grade.jail import child, landlock, limits, seccomp, wire

    os.setsid()
    plan = _whole(descriptors[_PLAN])
    kept, replies = _arranged(rules, descriptors)
    limits.first_to_go(_CHILD_GOES)
    os.environ.clear()
    os.environ.update(HOME="/nonexistent", USER="nobody", LOGNAME="nobody", LANG="C.UTF-8", TZ="UTC")
    os.chdir("/")
    os.umask(0o077)
    limits.limit(job["cpu_s"], job["memory_bytes"])
    limits.drop_privileges()
    limits.hide()
    limits.die_with(parent)
    source, steps = wire.decode_plan(plan)
    del plan
    settle()
    if kept is not None:
        landlock.restrict(kept)
        os.close(kept)
        seccomp.confine(os.getpid())
    os.write(replies, wire.frame({"ready": True}))
    _tell_attempts(replies, wire.frame)
    child.carry_out(source, steps, replies, job["result_bytes"])
    sys.stdout.flush()
    sys.stderr.flush()


def _arranged(rules: int | None, descriptors: list[int]) -> tuple[int | None, int]:
    """Put the descriptors to 0 (nothing), 1 and 2 (what is printed), 3 (replies) and 4 (rules); close all others."""
    import fcntl

    from shapedoc.grade.jail import limits

    # Duplicates above the places that are to be taken.
    printed, replies = (fcntl.fcntl(descriptors[each], fcntl.F_DUPFD, 16) for each in (_PRINTED, _REPLIES))
    held = fcntl.fcntl(rules, fcntl.F_DUPFD, 16) if rules is not None else None
    nothing = os.open("/dev/null", os.O_RDONLY)
    for source, place in ((nothing, 0), (printed, 1), (printed, 2), (replies, 3)):
        os.dup2(source, place)
    if held is not None:
        os.dup2(held, 4)
    limits.close_all_but(3 if held is None else 4)
    return (4 if held is not None else None), 3


def _whole(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    data = b""
    while len(data) < size:
        data += os.pread(descriptor, size - len(data), len(data))
    return data


_ATTEMPTS = frozenset(
    {
        "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen", "socket.__new__",
        "os.kill", "os.killpg",
    }
)  # fmt: skip


def _tell_attempts(replies: int, frame: Callable[[dict[str, object]], bytes]) -> None:
    """Say what is about to be tried, before the kernel ends it; words for a message, no evidence."""
    write = os.write

    def told(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _ATTEMPTS:
            with suppress(OSError):
                write(replies, frame({"attempt": event}))

    sys.addaudithook(told)


def _import_only_the_jail(root: str) -> None:
    """Make the jail importable without the packages around it: what marks a submission never gets into its memory."""
    for name in ("shapedoc", "shapedoc.grade"):
        package = ModuleType(name)
        package.__path__ = [os.path.join(root, *name.split("."))]
        sys.modules[name] = package


if __name__ == "__main__":
    _import_only_the_jail(sys.argv[2])
    main(int(sys.argv[1]))
