"""The cheap half of watching: where operations of watched code run, and which of their sizes agree.

What the rules find in a call depends on which operations ran and on which of their sizes are equal, not on the numbers
themselves. A call is recorded in full where either is new; one of a new signature that differs from a recorded one in
its numbers alone is only followed, to see that it does go the known way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from shapedoc.runtime.active import followed
from shapedoc.runtime.op_names import PASSIVE

__all__ = ["Failure", "Sites"]

Site = tuple[object, ...]


class Failure(NamedTuple):
    """An operation that has raised. caller: the frame that called it; author: that of the watched code below it."""

    problem: BaseException
    func: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    caller: FrameType
    author: FrameType


_Tensor = torch.Tensor
_QUIET = PASSIVE | {"__get__", "__set__", "size", "__iter__"}
# Sites that the rules have read in this process, and their code, whose id is its own as long as it lives.
_judged: set[Site] = set()
_codes: dict[int, CodeType] = {}
_MOST_SITES = 100_000


class Sites(TorchFunctionMode):
    """Follows the operations of watched code in a block.

    watched: which files' code is of interest. failed: told, at once, of each operation that raises.
    """

    def __init__(self, watched: Callable[[str], bool], failed: Callable[[Failure], None] | None = None) -> None:
        super().__init__()
        self.watched = watched
        self.failed = failed
        self.found: set[Site] = set()
        self.codes: dict[int, CodeType] = {}

    def __enter__(self) -> Sites:
        super().__enter__()
        followed(+1)
        return self

    def __exit__(self, *problem: Any) -> None:
        followed(-1)
        super().__exit__(*problem)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True
        name = getattr(func, "__name__", "")
        if name in _QUIET:
            return func(*args, **kwargs) if kwargs else func(*args)
        frame: FrameType | None = sys._getframe(1)
        watched = self.watched
        while frame is not None and not watched(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return func(*args, **kwargs) if kwargs else func(*args)
        self._note(frame, name, args, kwargs)
        try:
            return func(*args, **kwargs) if kwargs else func(*args)
        except Exception as problem:
            if self.failed is not None:
                self.failed(Failure(problem, func, args, kwargs or {}, sys._getframe(1), frame))
            raise

    def _note(self, frame: FrameType, name: str, args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> None:
        number = id(frame.f_code)
        self.codes[number] = frame.f_code
        site: list[object] = [number, frame.f_lasti, name]
        seen = {0: 0, 1: 1}
        try:
            _agreement(args, site, seen)
            if kwargs:
                _agreement(kwargs.values(), site, seen)
                if "dim" in kwargs:
                    site.append(str(kwargs["dim"]))
        except Exception:  # A tensor that has no sizes, such as a nested one.
            site.append("none")
        self.found.add(tuple(site))

    def is_known(self) -> bool:
        """Whether every operation was one that the rules have read, with sizes that agreed as they did then."""
        return self.found <= _judged

    def judged(self) -> None:
        """What was found here has been recorded in full, and the rules have read it."""
        if len(_judged) > _MOST_SITES:
            _judged.clear()
            _codes.clear()
        _judged.update(self.found)
        _codes.update(self.codes)


def _agreement(values: Iterable[Any], site: list[object], seen: dict[int, int]) -> None:
    """Append, for every tensor and number, which earlier sizes its own are equal to."""
    for value in values:
        if isinstance(value, _Tensor):
            site.append("x")
            for size in value.shape:
                site.append(seen.setdefault(size, len(seen)))
        elif isinstance(value, int):
            site.append(int(value) if value < 0 else seen.get(value, "n"))
        elif isinstance(value, tuple | list):
            site.append(len(value))
            _agreement(value, site, seen)
