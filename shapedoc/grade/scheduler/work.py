"""What a worker of the cluster runs: hands chunks to a station, a process of its own, and hands on what comes back."""

from __future__ import annotations

import atexit
import json
import os
import platform
import subprocess
import sys
import threading
from importlib import metadata

from shapedoc.version import __version__

__all__ = ["grade_chunk", "versions"]

_local = threading.local()


def versions() -> dict[str, str]:
    """What must be the same everywhere, so that marks are."""
    told = {"shapedoc": __version__, "python": ".".join(platform.python_version_tuple()[:2])}
    for name in ("torch", "numpy"):
        try:
            told[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            told[name] = "none"
    return told


def grade_chunk(job: str, request: str) -> str:
    """Grade a chunk; the answers as JSON. Raises RuntimeError where the station failed, with its last words."""
    station = getattr(_local, "station", None)
    if station is None or station.job != job or not station.alive():
        if station is not None:
            station.stop()
        station = _local.station = _Station(job)
    return str(station.graded(request))


class _Station:
    """One station, for one thread of the worker and one job."""

    def __init__(self, job: str) -> None:
        self.job = job
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "shapedoc.grade.scheduler.station"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self._errors: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()
        atexit.register(self.stop)
        self._tell(job)

    def alive(self) -> bool:
        """Whether it takes requests."""
        return self._process.poll() is None

    def graded(self, request: str) -> str:
        """The answer to a request."""
        self._tell(request)
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer.endswith("\n"):
            self.stop()
            raise RuntimeError(f"a grading process ended: {self._errors[-1] if self._errors else 'it said nothing'}")
        json.loads(answer)
        return answer

    def stop(self) -> None:
        """End it, and with it its fork server."""
        atexit.unregister(self.stop)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass

    def _listen(self) -> None:
        """Keep what it says of its own troubles, the last lines."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.strip():
                self._errors = [*self._errors[-20:], line.strip()[:300]]
