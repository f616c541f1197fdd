"""Views that put a recurrent state's directions or layers beside the features of another example.

A final state is (layers * directions, batch, hidden). A view that puts the batch before anything but all of the first
axis takes its rows from several examples, also where nobody knows whether there is a batch: without one, such a view
has too few elements.
"""

from __future__ import annotations

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Bool, Layer, Tensor
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import graph, result_shape, tensors_in
from shapedoc.rules.reading.recurrent import RECURRENT

__all__ = ["state_across_examples"]


def state_across_examples(trace: Trace, event: Event) -> Event | None:
    """The call whose final state, of unknown rank, an event views so that examples mix."""
    operand = next(iter(tensor_operands(event)), None)
    value, sizes, shape = operand.value if operand is not None else None, event.sizes, result_shape(event)
    source = graph(trace).producer(value)
    if source is None or source.short not in RECURRENT or not isinstance(value, Tensor) or sizes is None:
        return None
    states = tensors_in(getattr(source.result, "items", (None, None))[1])
    if not any(s is value for s in states) or shape is None or shape.rank is None or shape.rank < 2:
        return None
    state = sizes.shape(value.shape)
    batch = _batch(source, event)
    if state.rank is not None or not state.prefix or batch is None:
        return None
    count, before = sizes.resolve(state.prefix[0].dim), ONE
    if count.value == 1:
        return None
    for axis in shape.axes[:-1]:
        size = sizes.resolve(axis.dim)
        if size == batch:
            return source if before != count else None
        before = before * size
    return None


def _batch(source: Event, event: Event) -> Dim | None:
    """The size of the batch that a module was given, if there is one."""
    layer, given = source.value("self"), source.value("input")
    if not isinstance(layer, Layer) or not isinstance(given, Tensor) or event.sizes is None:
        return None
    first = layer.config.get("batch_first")
    place = 0 if isinstance(first, Bool) and first.value else 1
    axes: tuple[Axis, ...] = event.sizes.shape(given.shape).prefix
    size = event.sizes.resolve(axes[place].dim) if len(axes) > place else None
    return size if size is not None and size.const is None else None
