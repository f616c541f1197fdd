"""Linear maps that are built with their two sizes exchanged, as what is done with their output shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int, Layer
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import graph, result_shape, shape_at
from shapedoc.rules.reading.wording import severity_of

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
            if wanted and not any(severity_of(p.sameness) in ("error", "warning") for p in user.problems):
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
    parts = _split(cut.sizes, given, shape)
    counts = [size.const for size in parts if size.const is not None and size.const > 1]
    if len(counts) == 1 and before == after * counts[0]:
        return f"{counts[0]} parts"
    if parts and parts[-1].syms and after.divide(parts[-1]) is not None:
        return ""  # it is made of heads of this size: what is cut wrong is their number
    product = ONE
    for size in parts:
        product = product * size
    return f"({', '.join(cut.sizes.show(size) for size in parts)})" if len(parts) > 1 and product == before else ""


def _split(sizes: Sizes, given: Shape, shape: Shape) -> list[Dim]:
    """What the last axis is cut into, where all before it stay as they are."""
    outer = [sizes.resolve(axis.dim) for axis in given.axes[:-1]]
    made = [sizes.resolve(axis.dim) for axis in shape.axes]
    return made[len(outer) :] if given.run is None and made[: len(outer)] == outer else []
