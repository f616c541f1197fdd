"""Headless Chromium, driven over a pipe by its DevTools protocol: what a page asks for, says and draws."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

__all__ = ["Browser", "chromium", "opened"]

# The browser reads commands from descriptor 3 and answers on 4.
_LAUNCH = (
    "import os, sys; r, w = map(int, sys.argv[1:3]); os.dup2(r, 3); os.dup2(w, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_DEADLINE_S = 60.0


def chromium() -> str | None:
    """Where Chromium is, or nothing."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One page; every event since it was opened is in `events`."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._buffer, self._last, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def show(self, file: Path, width: int, *, dark: bool = False, height: int = 900) -> None:
        """Load a file in a window of so many pixels, and wait until it is drawn."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=file.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._next()

    def value(self, script: str) -> Any:
        """What an expression is in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self, path: Path) -> None:
        """Save the whole page as it is drawn."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def requests(self) -> list[str]:
        """Every address that the page has asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """Exceptions of scripts, and whatever stands on the console: refused requests and styles too."""
        told = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [json.dumps(event["params"]) for event in self.events if event["method"] in told]

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _DEADLINE_S
        while b"\0" not in self._buffer:
            ready, _, _ = select([self._answers], [], [], max(end - time.monotonic(), 0.0))
            more = os.read(self._answers, 1 << 16) if ready else b""
            if not more:
                raise TimeoutError("Chromium does not answer")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message


@contextmanager
def opened(program: str, folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own in `folder`; it is gone afterwards."""
    in_read, in_write = (_high(fd) for fd in os.pipe())
    out_read, out_write = (_high(fd) for fd in os.pipe())
    options = ["--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe"]
    options += [f"--user-data-dir={folder}", "--disable-background-networking", "--disable-component-update"]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(in_read), str(out_write), program, *options],
        pass_fds=(in_read, out_write),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(in_read)
    os.close(out_write)
    try:
        yield Browser(in_write, out_read)
    finally:
        os.close(in_write)  # the browser ends with its pipe
        os.close(out_read)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _high(descriptor: int) -> int:
    """The same descriptor under a number that does not stand in the way of 3 and 4."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return high
