"""What a function returned although a checker refused it, and what is put around the function and not the checker."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["NOTHING", "RESULTS", "kept"]

# last: what was returned last in this thread. around: a context that the next call is made in.
RESULTS = threading.local()
NOTHING = object()


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; what it returns is kept, so that a result which a checker refuses can be told of.

    It is called inside of `RESULTS.around`.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        around, RESULTS.around = getattr(RESULTS, "around", None), None
        if around is None:
            out = function(*args, **kwargs)
        else:
            with around:
                out = function(*args, **kwargs)
        RESULTS.last = out
        return out

    return call
