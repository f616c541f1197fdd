"""What the parent makes of a child's frames and of the way it ended: every field checked, every text cut."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Any, Literal, get_args

from shapedoc.grade.jail.wire import Array, BadFrame, FrameReader
from shapedoc.grade.messages import tell
from shapedoc.grade.plan import Call, Cause, Ended, Limits, Outcome, Plan, Raised, Reply, ReplyStatus

__all__ = ["Hearing"]

_OVERHEAD_BYTES = 4 << 20
_MEMORY = ("MemoryError", "OutOfMemoryError")
_MEMORY_WORDS = ("can't allocate memory", "not enough memory", "std::bad_alloc", "Unable to allocate")

# The events of Python that come before what the kernel ends, and what they are called in the catalogue.
_ATTEMPTS = {
    "os.fork": "process",
    "os.forkpty": "process",
    "os.exec": "program",
    "os.posix_spawn": "program",
    "os.system": "program",
    "subprocess.Popen": "program",
    "socket.__new__": "socket",
    "os.kill": "signal",
    "os.killpg": "signal",
}


class Hearing:
    """One child's replies, as far as they can be read.

    killed: why the parent had it killed, or knows that the system did; None where neither happened.
    """

    def __init__(self, plan: Plan, limits: Limits) -> None:
        self._steps = {step.id: step for step in plan.steps}
        self._limits = limits
        self._reader = FrameReader(limits.result_bytes + _OVERHEAD_BYTES)
        self._replies: dict[str, Reply] = {}
        self._printed = bytearray()
        self._attempt: str | None = None
        self._done = False
        self.began = False
        self.killed: Literal["timeout", "memory", "bad", "too much"] | None = None

    def printed(self, data: bytes) -> None:
        """Keep the beginning of what it prints."""
        self._printed += data[: self._limits.printed_bytes - len(self._printed)]

    def printed_text(self) -> str:
        """What was kept of what it printed."""
        return self._printed.decode("utf-8", "replace")

    def replies(self, data: bytes) -> None:
        """Take frames. Raises BadFrame for what is no reply to a step that is still open."""
        for record, arrays in self._reader.feed(data):
            match record:
                case {"ready": True} if not self.began:
                    self.began = True
                case {"attempt": str(event)} if event in _ATTEMPTS:
                    self._attempt = event
                case {"end": True}:
                    self._done = True
                case {"id": str(name)} if self.began and not self._done and name not in self._replies:
                    if name and name not in self._steps:
                        raise BadFrame("it replied to a step that nobody asked for")
                    self._replies[name] = self._reply(name, record, arrays)
                case _:
                    raise BadFrame("it sent something that is no reply")

    def _reply(self, name: str, record: dict[str, Any], arrays: Sequence[Array]) -> Reply:
        said = record.get("status")
        status: ReplyStatus = next((each for each in get_args(ReplyStatus) if each == said), "bad_type")
        step = self._steps.get(name)
        dependent = [bool(each) for each in _listed(record.get("gradients"))]
        if isinstance(step, Call) and status == "ok" and step.wrt:
            if len(dependent) != len(step.wrt) or sum(dependent) > len(arrays):
                raise BadFrame("it sent other gradients than it was asked for")
        else:
            dependent = []
        count = len(arrays) - sum(dependent)
        gradients = iter(arrays[count:])
        return Reply(
            id=name,
            status=status,
            arrays=tuple(arrays[:count]),
            kinds=tuple(_text(kind, 80) for kind in _listed(record.get("kinds")))[:count] if count else (),
            gradients=tuple(next(gradients) if each else None for each in dependent),
            raised=_raised(record.get("raised")),
            state=_state(record.get("state")),
            defined=tuple(_text(each, 80) for each in _listed(record.get("defined"))),
        )

    def outcome(self, signal_: int, code: int, seconds: float) -> Outcome:
        """The child has ended, by a signal or with a code."""
        stopped_in = self._stopped_in()
        status, cause = self._ended(signal_, code)
        if status == "done":
            stopped_in = self._out_of_memory()
            if stopped_in is not None:
                status, cause = "memory", Cause("jail.memory", {"megabytes": self._limits.memory_bytes >> 20})
        missing = {name: Reply(name, "not_run") for name in self._steps if name not in self._replies}
        return Outcome(
            status=status,
            loaded=self._replies.get("", Reply("", "not_run")),
            replies={name: self._replies.get(name) or missing[name] for name in self._steps},
            cause=cause,
            message=tell("en", cause) if cause else "",
            stopped_in=stopped_in,
            printed=self.printed_text(),
            seconds=seconds,
        )

    def _stopped_in(self) -> str | None:
        if "" not in self._replies:
            return ""
        return next((name for name in self._steps if name not in self._replies), None)

    def _ended(self, signal_: int, code: int) -> tuple[Ended, Cause | None]:
        limits = self._limits
        match self.killed:
            case "too much":
                return "crash", Cause("jail.too_much", {"megabytes": limits.result_bytes >> 20})
            case "bad":
                return "crash", Cause("jail.garbage")
            case "memory":
                return "memory", Cause("jail.system_memory")
            case "timeout":
                return "timeout", Cause("jail.wall", {"seconds": limits.cpu_s})
        if signal_ in (signal.SIGXCPU, signal.SIGKILL):
            return "timeout", Cause("jail.processor", {"seconds": limits.cpu_s})
        if signal_ == signal.SIGSYS:
            return "blocked", Cause(f"jail.{_ATTEMPTS.get(self._attempt or '', 'other')}")
        if signal_:
            return "crash", Cause("jail.crash", {"signal": _signal_name(signal_)})
        if not self._done:
            return "crash", Cause("jail.exit", {"code": code})
        loaded = self._replies.get("")
        if loaded is not None and loaded.raised is not None and loaded.raised.type == "PermissionError":
            return "blocked", Cause("jail.denied", {"message": loaded.raised.message})
        return "done", None

    def _out_of_memory(self) -> str | None:
        for name, reply in self._replies.items():
            raised = reply.raised
            if raised is not None and (
                raised.type in _MEMORY or any(words in raised.message for words in _MEMORY_WORDS)
            ):
                return name
        return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _listed(value: object) -> list[Any]:
    return value[:512] if isinstance(value, list) else []


def _text(value: object, most: int) -> str:
    """At most `most` characters of a text, without what a terminal would obey."""
    text = value if isinstance(value, str) else ""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text[:most])


def _raised(value: object) -> Raised | None:
    match value:
        case {"type": str(type_), "message": str(message), "line": int(line)} if 0 < line < 1 << 31:
            return Raised(_text(type_, 80), _text(message, 300), line)
        case {"type": str(type_), "message": str(message)}:
            return Raised(_text(type_, 80), _text(message, 300))
    return None


def _state(value: object) -> dict[str, tuple[int, ...]]:
    if not isinstance(value, dict):
        return {}
    return {
        _text(name, 120): tuple(size for size in _listed(shape) if type(size) is int)
        for name, shape in list(value.items())[:400]
    }
