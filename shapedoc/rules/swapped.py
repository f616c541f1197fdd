"""Linear maps that are built with their two sizes exchanged, as what is done with their output shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int, Layer
from shapedoc.rules.contractions import literal
from shapedoc.rules.flow import graph, result_shape, shape_at

__all__ = ["Swapped", "swapped_maps"]

_VIEWS = frozenset(("view", "reshape", "unflatten"))


@dataclass(frozen=True, slots=True, eq=False)
class Swapped:
    """A linear map whose output is cut into what its input was built as: `event` is the call, `cut` the cutting."""

    layer: Layer
    event: Event
    cut: Event
    wanted: str


def swapped_maps(trace: Trace) -> Iterator[Swapped]:
    """Every such map, once.

    ``Linear(3 * d, d)`` whose output is cut into three, or ``Linear(n_heads * d_k, d_model)`` whose output is viewed
    as (n_heads, d_k): that the input has exactly the size that the output should have is no chance.
    """
    g = graph(trace)
    seen: set[Span] = set()
    for event in trace.events:
        layer = event.value("self") if event.short == "Linear.forward" else None
        if not isinstance(layer, Layer) or layer.span is None or layer.span in seen:
            continue
        if event.sizes is None or event.spoilt:
            continue
        ours, made = (layer.config.get(name) for name in ("in_features", "out_features"))
        if not isinstance(ours, Int) or not isinstance(made, Int):
            continue
        before, after = event.sizes.resolve(ours.dim), event.sizes.resolve(made.dim)
        if before == after or not before.named or not after.named:
            continue
        for user in g.users[event.index]:
            wanted = _wanted(user, before, after)
            if wanted:
                seen.add(layer.span)
                yield Swapped(layer, event, user, wanted)
                break


def _wanted(cut: Event, before: Dim, after: Dim) -> str:
    """How the output is cut, where that is how the input would be cut."""
    assert cut.sizes is not None
    if cut.short == "chunk":
        count = literal(cut.value("chunks"))
        return f"{count} parts" if count is not None and count > 1 and before == after * count else ""
    shape, given = result_shape(cut), shape_at(cut, cut.operand("input"))
    if cut.short not in _VIEWS or shape is None or given is None or shape.run is not None:
        return ""
    sizes = [cut.sizes.resolve(axis.dim) for axis in shape.axes]
    counts = [
        size.const
        for size, axis in zip(sizes, shape.axes, strict=True)
        if size.const is not None and size.const > 1 and not any(axis.same(a) for a in given.axes)
    ]
    if len(counts) == 1 and before == after * counts[0]:
        return f"{counts[0]} parts"
    product = ONE
    for back, size in enumerate(reversed(sizes), 1):
        product = product * size
        if back == 1 and size.syms and after.divide(size) is not None:
            return ""  # it is made of heads of this size: what is cut wrong is their number
        if back > 1 and product == before:
            return f"({', '.join(cut.sizes.show(s) for s in sizes[-back:])})"
    return ""
