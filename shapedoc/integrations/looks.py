"""What the arguments and results of a checked call are."""

from __future__ import annotations

from typing import Any

from shapedoc.runtime.contracts import Term
from shapedoc.runtime.patterns import shape_of

__all__ = ["component", "is_general", "is_tensor", "sizes_of"]


def component(out: Any, term: Term) -> Any:
    """The part of a result that a term states."""
    if term.index is None:
        return out
    return out[term.index] if isinstance(out, tuple | list) and term.index < len(out) else None


def is_tensor(value: Any) -> bool:
    """Whether it has a shape and elements."""
    return shape_of(value) is not None and hasattr(value, "dtype")


def is_general(value: Any, stated: Term) -> bool:
    """Whether an argument is a tensor of the stated rank and elements, none of its sizes 0."""
    from shapedoc.runtime.shadows import is_array, kind_of

    shape = shape_of(value)
    if shape is None or not is_array(value) or kind_of(value) != stated.kind:
        return False
    return len(shape) == len(stated.dims) and 0 not in shape


def sizes_of(value: Any) -> tuple[int, ...] | None:
    """The shape of a tensor or array, None of anything else."""
    shape = shape_of(value)
    return tuple(shape) if shape is not None else None
