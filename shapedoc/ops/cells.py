"""Recurrent cells: one step of an RNN, a GRU, an LSTM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Layer, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import expect, flag, size, weight
from shapedoc.ops.meeting.states import check_state, one_state, two_states
from shapedoc.ops.registry import layer

__all__: list[str] = []

_CELL = "input_size: Dim, hidden_size: Dim, bias: bool = True, {more}device: Value = None, dtype: Value = None"
_GATES = {"torch.nn.RNNCell": 1, "torch.nn.GRUCell": 3, "torch.nn.LSTMCell": 4}


def _parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    at = OpContext(sizes, {})
    into, hidden = size(at, layer, "input_size"), size(at, layer, "hidden_size")
    gates = _GATES[layer.kind] * hidden
    found = {"weight_ih": weight(gates, into), "weight_hh": weight(gates, hidden)}
    if flag(layer, "bias") is not False:
        found["bias_ih"], found["bias_hh"] = weight(gates), weight(gates)
    return found


@layer("torch.nn.RNNCell", _CELL.format(more="nonlinearity: str = 'tanh', "), _parameters)
@layer("torch.nn.GRUCell", _CELL.format(more=""), _parameters)
def gru_cell(at: OpContext, layer: Layer, input: Tensor, hx: Value | None = None) -> Value:
    """Take one step with one state.

    input (B, input_size) or (input_size,), hx (B, hidden_size) or (hidden_size,) -> as hx
    Conflict: another rank; input_size differs; a state that does not fit.
    Source: PyTorch documentation, torch.nn.GRUCell, torch.nn.RNNCell.
    """
    hidden, state = size(at, layer, "hidden_size"), one_state(at, hx)
    lead = _step(at, layer, input, [] if state is None else [state])
    return _new_state(at, input, lead, hidden, state, "hidden")


@layer("torch.nn.LSTMCell", _CELL.format(more=""), _parameters)
def lstm_cell(at: OpContext, layer: Layer, input: Tensor, hx: Value | None = None) -> Value:
    """Take one step with a hidden and a cell state.

    input (B, input_size) or (input_size,), hx: (h, c), each (B, hidden_size) or (hidden_size,) -> (h, c)
    Conflict: another rank; input_size differs; no pair of states; a state that does not fit.
    Source: PyTorch documentation, torch.nn.LSTMCell.
    """
    hidden, states = size(at, layer, "hidden_size"), two_states(at, hx)
    lead = _step(at, layer, input, states or ())
    h, c = states or (None, None)
    return Seq((_new_state(at, input, lead, hidden, h, "hidden"), _new_state(at, input, lead, hidden, c, "cell")))


def _step(at: OpContext, layer: Layer, input: Tensor, states: Sequence[Tensor]) -> tuple[Axis | Run, ...]:
    """Check the input; gives what stands before its last axis: the batch, or nothing."""
    shape = at.shape(input)
    if shape.run is None or len(shape.axes) >= 2:
        at.need_rank(input, 1, 2)
    else:
        for state in states:
            rank = at.shape(state).rank
            if rank in (1, 2) and len(shape.axes) <= rank:
                at.need_rank(input, rank)
                break
    at.suffix(input, 1)
    last = expect(at, input, -1, size(at, layer, "input_size"), "input_size")
    at.sizes.mark(last, "feature", at.line)
    lead = at.shape(input).items[:-1]
    for item in lead:
        if isinstance(item, Axis):
            at.sizes.mark(item, "batch", at.line)
    return lead


def _new_state(
    at: OpContext, input: Tensor, lead: tuple[Axis | Run, ...], hidden: Dim, state: Tensor | None, which: str
) -> Tensor:
    last = at.axis(hidden)
    at.sizes.mark(last, "feature", at.line)
    if state is not None:
        parts = ("batch", "hidden") if lead else ("hidden",)
        check_state(at, state, which, (*lead, last), parts)
        found = at.shape(state)
        if found.rank == len(lead) + 1:
            at.sizes.mark(found.axes[-1], "feature", at.line)
            lead = tuple(_joined(a, b) for a, b in zip(lead, found.items[:-1], strict=True))
    return at.tensor((*lead, last), input, kind="float")


def _joined(ours: Axis | Run, theirs: Axis | Run) -> Axis | Run:
    return ours.merged(theirs) if isinstance(ours, Axis) and isinstance(theirs, Axis) else ours
