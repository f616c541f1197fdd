"""What elements are: the kind that arithmetic on them gives, and the one that a dtype says."""

from __future__ import annotations

from collections.abc import Iterable

from shapedoc.core.value import Dtype, Kind, Str, Tensor, Value

__all__ = ["kind_of_dtype", "promote"]

_RANKING: tuple[Kind, ...] = ("bool", "int", "float", "complex")
_WORDS: dict[Kind, tuple[str, ...]] = {
    "bool": ("bool",),
    "int": ("int", "long", "short", "byte", "char"),
    "float": ("float", "double", "half"),
    "complex": ("complex",),
}


def promote(tensors: Iterable[Tensor]) -> tuple[Kind, Tensor]:
    """The kind of elements that arithmetic on these tensors gives, and a tensor whose library the result has."""
    tensors = list(tensors)
    like = next((t for t in tensors if t.shape.items), tensors[0])
    kinds = [t.kind for t in tensors]
    if "" in kinds:
        return ("complex" if "complex" in kinds else "float" if "float" in kinds else ""), like
    return max(kinds, key=_RANKING.index), like


def kind_of_dtype(value: Value) -> Kind | None:
    """What elements a dtype makes; None for what is no dtype."""
    match value:
        case Dtype(kind=kind):
            return kind
        case Tensor(kind=kind):
            return kind
        case Str(value=str(text)):
            for kind, words in _WORDS.items():
                if any(word in text.lower() for word in words):
                    return kind
    return None
