"""``@shapedoc.check`` and ``with shapedoc.watching()``."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from types import FunctionType
from typing import Any, TypeVar, overload

from shapedoc.integrations.checked import Checked
from shapedoc.integrations.watched import Options, best, note, tell

__all__ = ["check", "decorator", "is_off", "watching"]

_Target = TypeVar("_Target", bound=Callable[..., Any])


def is_off() -> bool:
    """Whether checks are switched off: ``SHAPEDOC=off`` in the environment, or ``python -O``."""
    return not __debug__ or os.environ.get("SHAPEDOC", "").lower() in ("off", "0", "no")


@overload
def check(target: _Target, /) -> _Target: ...


@overload
def check(*, on_finding: str = "warn", record: bool = True) -> Callable[[_Target], _Target]: ...


def check(target: Any = None, /, *, on_finding: str = "warn", record: bool = True) -> Any:
    """Check the shapes that a function, a method, a class or a dataclass states, and watch what it does.

    A call of a signature that has not been seen is verified: an argument that is not as stated raises ShapeError and
    is named; an exception inside is explained in a note on it; what is silently wrong is a ShapeWarning. A verified
    signature costs one look-up. Of a class every method is checked, of a dataclass its fields.

    on_finding: "warn", or "raise" to make an error-level finding a ShapeError. record: watch the first calls of a
    function, not only its arguments and results.

    Raises ValueError for another `on_finding`, TypeError for a target that is neither a function nor a class.
    """
    decorate = decorator(Options(on_finding, record, ahead=True))
    return decorate if target is None else decorate(target)


def decorator(options: Options) -> Callable[[Any], Any]:
    """What decorates functions and classes in this way."""

    def decorate(one: Any) -> Any:
        if is_off():
            return one
        if isinstance(one, staticmethod | classmethod):
            return type(one)(decorate(one.__func__))
        if isinstance(one, type):
            return _class(one, options)
        if isinstance(one, FunctionType):
            return _function(one, options)
        raise TypeError(f"`check` decorates functions and classes, not {type(one).__name__}")

    return decorate


def _function(function: FunctionType, options: Options) -> Any:
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        return function  # What it does happens after the call.
    checked = Checked(function, options)
    if options.ahead:
        checked.prepare()
    wrapper = functools.wraps(function)(checked.wrapper)
    wrapper.__dict__["__shapedoc__"] = checked
    return wrapper


def _class(cls: type, options: Options) -> type:
    if is_dataclass(cls):
        from shapedoc.integrations.fields import check_fields

        return check_fields(cls, options)
    for name, member in list(vars(cls).items()):
        if name.startswith("__") and name != "__call__":
            continue
        if isinstance(member, staticmethod | classmethod):
            inner = member.__func__
            if isinstance(inner, FunctionType):
                setattr(cls, name, type(member)(_function(inner, options)))
        elif isinstance(member, FunctionType) and "__shapedoc__" not in member.__dict__:
            setattr(cls, name, _function(member, options))
    return cls


@contextmanager
def watching(*, on_finding: str = "warn") -> Iterator[Any]:
    """Watch the code of this block: the file that it stands in, and what lies under the working folder.

    Gives the recording: its `trace`, and its `findings()` afterwards. What is silently wrong is a ShapeWarning;
    an exception is explained in a note on it.
    """
    from pathlib import Path

    from shapedoc.runtime.program import under
    from shapedoc.runtime.recording import record

    options = Options(on_finding)
    if is_off():
        yield None
        return
    here = sys._getframe(2).f_code.co_filename
    inside = under(Path.cwd())
    with record(lambda path: path == here or inside(path)) as recording:
        try:
            yield recording
        except Exception as problem:
            recording.error = problem
            note(problem, best(recording))
            raise
    tell(recording.findings(), options)
