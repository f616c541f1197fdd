"""Queries, keys and values of one call that is not followed, one of which has its heads at another place."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import Dim
from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, shape_at
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["heads_of", "unlike_heads"]

_CUTS = frozenset(("view", "reshape", "unflatten"))


def unlike_heads(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """Every tensor that was cut into heads and passed on as it is, where what is passed with it was transposed."""
    g = graph(trace)
    seen: set[Span] = set()
    for event in trace.events:
        if not event.lost.startswith("no op for") or event.span in seen or event.span.path or event.sizes is None:
            continue
        odd = _odd(g, event)
        if odd is None:
            continue
        seen.add(event.span)
        operand, place, other, wanted = odd
        text, beside = text_of(trace, operand), text_of(trace, other)
        made = g.producer(operand.value)
        yield finding(
            trace,
            event,
            made.span if made is not None and not made.span.path else operand.span,
            code=code,
            name=name,
            severity="warning",
            message=f"{text} {shape_text(event, operand.shape)} has its heads at axis {place}, and {beside}, which is "
            f"passed with it, at axis {wanted}",
            tensor=text,
            actual=shape_text(event, operand.shape),
            labels=label(operand.span, f"{text} is {shape_text(event, operand.shape)}")
            + label(other.span, f"{beside} is {shape_text(event, other.shape)}")
            + call_labels(event),
            why="what is multiplied head by head has its heads at one place: here every head would meet another step",
            help=f"{text}.transpose({min(place, wanted)}, {max(place, wanted)})",
        )


def _odd(g: Graph, event: Event) -> tuple[Operand, int, Operand, int] | None:
    """An operand that nothing has transposed, its heads' axis, one beside it that was, and the axis of that one's."""
    cut: list[tuple[Operand, int, bool, Dim, Dim]] = []
    for operand in event.operands:
        found = heads_of(g, event, operand)
        if found is not None:
            cut.append((operand, *found))
    for operand, place, moved, heads, width in cut:
        if moved:
            continue
        others = [o for o in cut if o[2] and o[3] == heads and o[4] == width and o[1] != place]
        alike = [o for o in cut if not o[2] and o[3] == heads and o[4] == width and o[0] is not operand]
        if others and not alike:
            return operand, place, others[0][0], others[0][1]
    return None


def heads_of(g: Graph, event: Event, operand: Operand) -> tuple[int, bool, Dim, Dim] | None:
    """Where a tensor of four axes has the heads that a view cut it into, whether they were moved, and both sizes."""
    shape, sizes = shape_at(event, operand), event.sizes
    if not isinstance(operand.value, Tensor) or shape is None or sizes is None or shape.rank != 4:
        return None
    moved, made = False, g.producer(operand.value)
    for _ in range(12):
        if made is None or made.short in _CUTS or made.short not in SHAPING | {"cat"}:
            break
        moved = moved or made.short in ("transpose", "permute", "swapaxes")
        made = g.main_source(made)
    if made is None or made.short not in _CUTS or made.shape is None or made.shape.rank != 4:
        return None
    heads, width = (sizes.resolve(axis.dim) for axis in made.shape.axes[-2:])
    dims = [sizes.resolve(axis.dim) for axis in shape.axes]
    if heads == width or dims.count(heads) != 1 or dims[-1] != width or not heads.named or not width.named:
        return None
    return dims.index(heads), moved, heads, width
