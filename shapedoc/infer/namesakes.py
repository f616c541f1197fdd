"""Maps of a file that is not read, under the name that torch has for them: ``from .layers import Linear``.

A wrapper that initialises its weights in a way of its own is called and built as torch's own is. What is built with
anything that torch's has not is another thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.value import Int, Value
from shapedoc.core.verdict import Lost
from shapedoc.infer.attributes import is_foreign
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.values import Symbolic
from shapedoc.ops.bind import Arguments, build_layer
from shapedoc.ops.registry import find_layer

__all__ = ["namesake"]

_MAPS = {"Linear": ("in_features", "out_features"), "Embedding": ("num_embeddings", "embedding_dim")}


def namesake(m: Machine, qualified: str, args: Sequence[Arg], keywords: Mapping[str, Arg]) -> str | None:
    """The layer of torch that a class of another file has the name and the arguments of."""
    name = qualified.rpartition(".")[2]
    sizes = _MAPS.get(name)
    if sizes is None or "torch" not in m.libraries or not is_foreign(qualified):
        return None
    given = [a.value for a in args[:2]] or [keywords[k].value for k in sizes if k in keywords]
    entry = find_layer(f"torch.nn.{name}")
    if entry is None or len(given) != 2 or not all(isinstance(v, Int | Symbolic) for v in given):
        return None
    try:
        build_layer(entry, Arguments([_size(a.value) for a in args], {k: _size(a.value) for k, a in keywords.items()}))
    except Lost:
        return None
    return f"torch.nn.{name}"


def _size(value: Value) -> Value:
    return value.as_int() if isinstance(value, Symbolic) and not value.used_as_tensor else value
