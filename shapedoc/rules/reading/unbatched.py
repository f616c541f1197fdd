"""One step of a batch that a recurrent layer takes for a sequence: its state meets the rows of the batch.

With two axes a recurrent layer takes (time, features) of one sequence, with (B, 1, d) and without `batch_first` B steps
of a batch of one. Either way it gives one state. What is joined with that state row by row has one row: whatever the
layer was fed, its rows were not meant to be the steps of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Bool, Int, Seq, Tensor
from shapedoc.rules.reading.blame import layer_of
from shapedoc.rules.reading.flow import shape_at

__all__ = ["Unbatched", "joined_with_state", "unbatched"]

_SEQUENCES = frozenset(("RNN.forward", "GRU.forward", "LSTM.forward"))
_JOINS = frozenset(("cat", "hstack"))


@dataclass(frozen=True, slots=True, eq=False)
class Unbatched:
    """run: the call of the recurrent layer. join: where its state is put beside the rows that it was fed."""

    run: Event
    join: Event


def unbatched(trace: Trace) -> Iterator[Unbatched]:
    """Each call of a layer that is told to take the batch first, and is fed what has two axes."""
    seen: set[Span] = set()
    for run in trace.events:
        if run.short in _SEQUENCES and run.span not in seen and _is_fed_a_step(run):
            join = joined_with_state(trace, run)
            if join is not None:
                seen.add(run.span)
                yield Unbatched(run, join)


def _is_fed_a_step(event: Event) -> bool:
    layer, shape = layer_of(event), shape_at(event, event.operand("input"))
    first = layer.config.get("batch_first") if layer is not None else None
    return shape is not None and shape.rank == 2 and isinstance(first, Bool) and first.value is True


def joined_with_state(trace: Trace, run: Event) -> Event | None:
    """Where the first axis of what a recurrent layer is fed is put beside its state, and is one by that."""
    fed = shape_at(run, run.operand("input"))
    if run.short not in _SEQUENCES or fed is None or fed.rank is None or not _is_one(fed.axes[0]):
        return None
    later = (event for event in trace.events[run.index + 1 :] if event.short in _JOINS)
    return next((join for join in later if _meets(trace, fed.axes[0], join)), None)


def _meets(trace: Trace, steps: Axis, join: Event) -> bool:
    sizes = join.sizes
    if sizes is None:
        return False
    rows = [shape.axes[0] for shape in _parts(join) if shape.rank == 2]
    fed = [axis for axis in rows if axis.same(steps) and _is_one(axis) and not axis.visible]
    layers = [axis for axis in rows if sizes.role(axis, "layers") is not None and _is_one(axis)]
    apart = bool(fed and layers) and not (fed == layers and len(fed) == 1)
    return apart and _is_given(trace, steps)


def _is_given(trace: Trace, axis: Axis) -> bool:
    """Whether an axis is one of a parameter: nothing but its use says how long it is."""
    for event in trace.events:
        for operand in event.operands:
            if isinstance(operand.value, Tensor) and operand.value.event < 0 and not operand.value.learned:
                shape = shape_at(event, operand)
                if shape is not None and any(a.same(axis) for a in shape.axes):
                    return True
    return False


def _is_one(axis: Axis) -> bool:
    return axis.dim == ONE


def _parts(join: Event) -> list[Shape]:
    """The shapes of what is joined along its last axis."""
    dim, tensors, sizes = join.value("dim"), join.value("tensors"), join.sizes
    along = dim.value if isinstance(dim, Int) else 1 if join.short == "hstack" else 0
    if along not in (1, -1) or not isinstance(tensors, Seq) or sizes is None:
        return []
    return [sizes.shape(t.shape) for t in tensors.items if isinstance(t, Tensor)]
