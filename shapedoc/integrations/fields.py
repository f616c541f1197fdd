"""Dataclasses: the shapes that their fields state, checked when an object is made."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from shapedoc.integrations.looks import sizes_of
from shapedoc.integrations.told import ShapeError
from shapedoc.integrations.watched import Options
from shapedoc.runtime.blame import blame
from shapedoc.runtime.contracts import read_class
from shapedoc.runtime.mismatch import of_arguments

__all__ = ["check_fields"]


def check_fields(cls: type, options: Options) -> type:
    """Wrap the constructor of a dataclass."""
    contract = read_class(cls)
    specs = {n: t.dims for n, t in contract.params.items()}
    init: Callable[..., None] = vars(cls)["__init__"]
    seen: set[tuple[object, ...]] = set()

    @functools.wraps(init)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        shapes = {n: s for n in specs if (s := sizes_of(getattr(self, n, None))) is not None}
        key = tuple(shapes.items())
        if key in seen:
            return
        verdict = blame(specs, shapes, {})
        if verdict is not None:
            raise ShapeError([of_arguments(contract, shapes, verdict, {}, sys._getframe(1))])
        if len(seen) < 4096:
            seen.add(key)

    type.__setattr__(cls, "__init__", made)
    return cls
