"""Sizes that a division made floats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Float, Layer
from shapedoc.rules.reading.wording import text_of

__all__ = ["float_sizes"]

_SIZES = frozenset(
    (
        "in_features", "out_features", "input_size", "hidden_size", "embed_dim", "num_heads", "d_model", "nhead",
        "num_embeddings", "embedding_dim", "in_channels", "out_channels", "num_layers", "normalized_shape",
        "kdim", "vdim",
    )
)  # fmt: skip
# What may be a float beside sizes.
_NUMBERS = frozenset(("input", "fill_value", "p", "value", "low", "high"))


def float_sizes(trace: Trace, views: Iterable[Event]) -> Iterator[tuple[Event, Operand, str]]:
    """The float, as it is written, where a function uses it first as a size: of a view, or of a layer."""
    seen: set[tuple[str, str]] = set()
    for event in (*views, *(e for e in trace.events if isinstance(e.result, Layer))):
        for part in _floats(event):
            text = text_of(trace, part).strip("`")
            if (event.function, text) not in seen:
                seen.add((event.function, text))
                yield event, part, text


def _floats(event: Event) -> Iterator[Operand]:
    of_layer = isinstance(event.result, Layer)
    for operand in event.operands:
        for part in operand.parts or (operand,):
            is_size = part.name in _SIZES if of_layer else operand.name not in _NUMBERS
            if is_size and isinstance(part.value, Float) and part.value.known:
                yield part
