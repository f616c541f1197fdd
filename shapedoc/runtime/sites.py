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

from shapedoc.rules.reading.contractions import names
from shapedoc.runtime.active import followed
from shapedoc.runtime.op_names import PASSIVE
from shapedoc.runtime.patterns import Pattern, Seen

__all__ = ["QUIET", "Failure", "Sites"]


class Failure(NamedTuple):
    """An operation that has raised. caller: the frame that called it; author: that of the watched code below it."""

    problem: BaseException
    func: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    caller: FrameType
    author: FrameType


_Tensor = torch.Tensor
# What is not looked at: it makes no tensor, or comes of what does.
QUIET = PASSIVE | {"__get__", "__set__", "size", "__iter__"}
# Whole numbers that go into these name axes: they are no sizes, whatever size they happen to be equal to.
_OF_AXES = names(
    "transpose permute swapaxes swapdims movedim moveaxis unsqueeze squeeze flatten unbind cat concat stack softmax "
    "log_softmax softmin logsumexp sum mean prod std var norm amax amin max min argmax argmin all any cumsum cumprod "
    "sort argsort flip"
)
# Operations that the rules have read in this process, and their code, whose id is its own as long as it lives.
_judged = Seen()
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
        self.found: set[Pattern] = set()
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
        if name in QUIET:
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
        form: list[object] = [number, frame.f_lasti, name]
        sizes: list[int] = []
        seen = {0: 0, 1: 1}
        try:
            axes = name in _OF_AXES
            _agreement(args, form, sizes, seen, axes=axes)
            if kwargs:
                _agreement(kwargs.values(), form, sizes, seen, axes=axes)
                if "dim" in kwargs:
                    form.append(str(kwargs["dim"]))
        except Exception:  # A tensor that has no sizes, such as a nested one.
            form.append("none")
        self.found.add(Pattern(tuple(form), tuple(sizes)))

    def is_known(self) -> bool:
        """Whether every operation was one that the rules have read, with sizes that agreed where they did then."""
        return all(one in _judged for one in self.found)

    def judged(self) -> None:
        """What was found here has been recorded in full, and the rules have read it."""
        if len(_judged) > _MOST_SITES:
            _judged.clear()
            _codes.clear()
        for one in self.found:
            _judged.add(one)
        _codes.update(self.codes)


def _agreement(
    values: Iterable[Any], form: list[object], sizes: list[int], seen: dict[int, int], *, axes: bool
) -> None:
    """Append what each argument is, and for every size and number which earlier sizes it is equal to.

    axes: whole numbers are the numbers of axes.
    """
    for value in values:
        if isinstance(value, _Tensor):
            shape = value.shape
            form.append(len(shape))
            for size in shape:
                sizes.append(seen.setdefault(size, len(seen)))
        elif isinstance(value, int):
            if axes or value < 0:
                form.append(("at", int(value)))
            else:
                form.append("n")
                sizes.append(seen.get(value, -1))
        elif isinstance(value, tuple | list):
            form.append(("of", len(value)))
            _agreement(value, form, sizes, seen, axes=axes)
