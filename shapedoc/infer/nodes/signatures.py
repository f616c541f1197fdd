"""Whether a function of the author's takes the arguments of a call: Python raises where it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.value import Value
from shapedoc.infer.machine import Arg
from shapedoc.infer.values import BoundMethod, Function, Instance

__all__ = ["takes"]


def takes(called: Value, args: Sequence[Arg], keywords: Mapping[str, Arg]) -> bool:
    """Whether a call with exactly these arguments can be made; True of what is not one of the author's functions."""
    function, given = _called(called)
    if function is None:
        return True
    params = function.node.params
    kinds = {p.kind for p in params}
    places = [p.name for p in params if p.kind == "pos"]
    given += len(args)
    if given > len(places) and "args" not in kinds:
        return False
    named = {p.name for p in params if p.kind not in ("args", "kwargs")}
    if not keywords.keys().isdisjoint(places[:given]) or ("kwargs" not in kinds and not keywords.keys() <= named):
        return False
    missing = named - set(places[:given]) - keywords.keys() - function.defaults.keys()
    return not missing


def _called(value: Value) -> tuple[Function | None, int]:
    """The function that a call runs, and how many arguments it is given besides those written."""
    match value:
        case Function():
            return value, 0
        case BoundMethod(function=function):
            return function, 1
        case Instance(cls=cls):
            found = cls.find("forward") or cls.find("__call__")
            if found is not None and isinstance(found[0], Function):
                return found[0], 1
    return None, 0
