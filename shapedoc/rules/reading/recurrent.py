"""Recurrent modules: single steps that go in, and final states, whose first axis counts layers and directions."""

from __future__ import annotations

from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Seq, Tensor
from shapedoc.rules.reading.blame import layer_of
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import SHAPING, graph, shape_at, tensors_in

__all__ = ["RECURRENT", "final_state_of", "is_final_state", "is_single_step"]

RECURRENT = names("GRU.forward LSTM.forward RNN.forward")


def final_state_of(trace: Trace, operand: Operand) -> Event | None:
    """The call of a recurrent module whose final state an operand is, its first axis still that of the layers."""
    g = graph(trace)
    made = g.producer(operand.value)
    if made is None or not isinstance(operand.value, Tensor):
        return None
    origin = g.origin(made, SHAPING)
    result = origin.result
    if origin.short not in RECURRENT or not isinstance(result, Seq) or len(result.items) != 2:
        return None
    shape = operand.value.shape
    for state in tensors_in(result.items[1]):
        if state.shape.prefix and shape.prefix and state.shape.prefix[0].same(shape.prefix[0]):
            return origin
    return None


def is_final_state(trace: Trace, operand: Operand) -> bool:
    """Whether an operand is the final state of a recurrent module, all layers and directions of it."""
    return final_state_of(trace, operand) is not None


def is_single_step(event: Event, problem: Problem) -> bool:
    """Whether a sequence module got one step, (batch, features), with a state for a batch."""
    shape = shape_at(event, event.operand("input"))
    layer = layer_of(event)
    detail = problem.detail
    if layer is None or "Cell" in layer.kind or shape is None or detail.get("why") != "rank":
        return False
    return shape.rank == 2 and detail.get("wanted") == "2" and detail.get("got") == "3"
