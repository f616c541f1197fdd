"""``is``, ``in`` and equal dtypes, where the answer is certain."""

from __future__ import annotations

from shapedoc.core.value import Bool, DictValue, Dtype, NoneValue, Seq, Str, Unknown, Value
from shapedoc.infer.values import Builtin, Choice, Symbolic

__all__ = ["identity", "membership", "same_builtin", "same_dtype"]

# What torch makes of Python's numbers, under both of its names.
_USUAL = frozenset(("", "long", "int64", "float", "float32", "bool"))


def identity(left: Value, right: Value, same: bool) -> Bool:
    """``left is right`` where it is certain; `same` is False for ``is not``."""
    if isinstance(left, NoneValue) and isinstance(right, NoneValue):
        return Bool(same)
    if isinstance(right, NoneValue) or isinstance(left, NoneValue):
        other = left if isinstance(right, NoneValue) else right
        if isinstance(other, Choice) and any(isinstance(v, NoneValue) for v in other.values):
            return Bool()
        if isinstance(other, Unknown) or (isinstance(other, Symbolic) and other.hint in ("", "none")):
            return Bool()
        return Bool(not same)
    if isinstance(left, Bool) and isinstance(right, Bool) and left.value is not None and right.value is not None:
        return Bool((left.value == right.value) == same)
    if isinstance(left, Builtin) and isinstance(right, Builtin):
        return same_builtin(left, right, same)
    return Bool()


def same_builtin(left: Builtin, right: Builtin, same: bool) -> Bool:
    """Whether two of Python's own types or functions are one: ``type(names) is list``."""
    return Bool((left.name == right.name) == same)


def membership(left: Value, right: Value, inside: bool) -> Bool:
    """``left in right`` where it is certain; `inside` is False for ``not in``."""
    if isinstance(left, Str) and left.value is not None:
        if isinstance(right, DictValue) and right.complete:
            return Bool((left.value in right.items) == inside)
        if isinstance(right, Seq) and right.rest is None:
            known = [v.value for v in right.items if isinstance(v, Str)]
            if len(known) == len(right.items) and None not in known:
                return Bool((left.value in known) == inside)
    return Bool()


def same_dtype(left: Dtype, right: Dtype, equal: bool) -> Bool:
    """Whether two dtypes are one; an unnamed one is the usual one of its kind."""
    if not left.kind or not right.kind:
        return Bool()
    if left.kind != right.kind:
        return Bool(not equal)
    usual = {left.name or right.name, right.name or left.name} <= _USUAL
    return Bool(equal) if usual else Bool()
