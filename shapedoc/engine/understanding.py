"""How much of a file the interpreter understood, by its trace."""

from __future__ import annotations

from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.spelling import Spelling
from shapedoc.core.statistics import Loss, Understanding
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Tensor
from shapedoc.engine.tensorless import makes_no_tensor

__all__ = ["understanding"]

_NOTHING, _RANK, _SHAPE = range(3)


def understanding(trace: Trace) -> Understanding:
    """Return how many expressions of the file make a tensor, and of how many the rank and the shape are known.

    An expression is an operation at its place: one that makes a tensor, or that takes one and cannot be followed.
    Names and attributes by themselves are none, nor is what is done to values of which it is not known that they are
    tensors, what makes no tensor (a plot, a file that is written), or a call that cannot be followed and whose result
    nobody takes; what other files do is theirs.
    """
    best: dict[Span, int] = {}
    reasons: dict[Span, str] = {}
    for _, start, end, sizes in trace.entries:
        spelling = Spelling(trace, start, end, sizes)
        for event in trace.events[start:end]:
            if event.span.path or event.op == "phi":
                continue
            if event.lost and (event.discarded or makes_no_tensor(event.op)):
                continue
            if event.lost:
                reasons.setdefault(event.span, _reason(event))
            if (event.lost or isinstance(event.result, Tensor)) and best.get(event.span) != _SHAPE:
                best[event.span] = max(best.get(event.span, _NOTHING), _known(event, sizes, spelling))
    known = list(best.values())
    return Understanding(
        len(known),
        sum(level >= _RANK for level in known),
        sum(level == _SHAPE for level in known),
        _losses({span: reason for span, reason in reasons.items() if best[span] != _SHAPE}, trace.path),
    )


def _known(event: Event, sizes: Sizes, spelling: Spelling) -> int:
    if not isinstance(event.result, Tensor):
        return _NOTHING
    shape = event.shape or event.result.shape
    if not _is_whole(shape, sizes):
        shape = sizes.shape(shape)
    if _is_whole(shape, sizes) or spelling.tells(shape):
        return _SHAPE
    return _NOTHING if shape.rank is None else _RANK


def _is_whole(shape: Shape, sizes: Sizes) -> bool:
    """Whether every size is a number or made of sizes that have a name."""
    return shape.rank is not None and all(
        axis.dim.const is not None or axis.dim.named or sizes.resolve(axis.dim).named for axis in shape.axes
    )


def _reason(event: Event) -> str:
    return event.lost if event.op in event.lost else f"{event.op}: {event.lost}"


def _losses(reasons: dict[Span, str], path: str) -> tuple[Loss, ...]:
    places: dict[str, list[Span]] = {}
    for span, reason in reasons.items():
        places.setdefault(reason, []).append(span)
    losses = (Loss(reason, len(spans), path, min(spans)) for reason, spans in places.items())
    return tuple(sorted(losses, key=lambda loss: (-loss.places, loss.reason)))
