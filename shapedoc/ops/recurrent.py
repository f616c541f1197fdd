"""Recurrent modules: RNN, GRU, LSTM.

A packed sequence is a Tensor whose shape is that of the padded sequence; see `shapedoc.ops.packed`.
"""

from __future__ import annotations

from collections.abc import Mapping

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Layer, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import expect, flag, number, weight
from shapedoc.ops.meeting.states import Stack, check_state, crossed, one_state, stack_of, two_states
from shapedoc.ops.packed import PACKED_BATCH_FIRST, is_packed
from shapedoc.ops.registry import layer

__all__: list[str] = []

_TAIL = (
    "bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,"
    "{more}device: Value = None, dtype: Value = None"
)
_GATED = "input_size: Dim, hidden_size: Dim, num_layers: Dim = 1, " + _TAIL
_GATES = {"torch.nn.RNN": 1, "torch.nn.GRU": 3, "torch.nn.LSTM": 4}


def _parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    at = OpContext(sizes, {})
    stack, layers = stack_of(at, layer), number(layer, "num_layers")
    found: dict[str, Tensor] = {}
    if layers is None or stack.directions is None:
        return found
    gates = _GATES[layer.kind] * stack.hidden
    for k in range(layers):
        into = stack.input if k == 0 else stack.directions * stack.out
        for suffix in ("", "_reverse")[: stack.directions]:
            found[f"weight_ih_l{k}{suffix}"] = weight(gates, into)
            found[f"weight_hh_l{k}{suffix}"] = weight(gates, stack.out)
            if flag(layer, "bias") is not False:
                found[f"bias_ih_l{k}{suffix}"] = weight(gates)
                found[f"bias_hh_l{k}{suffix}"] = weight(gates)
            if stack.projected is not None:
                found[f"weight_hr_l{k}{suffix}"] = weight(stack.projected, stack.hidden)
    return found


@layer(
    "torch.nn.RNN",
    "input_size: Dim, hidden_size: Dim, num_layers: Dim = 1, nonlinearity: str = 'tanh', " + _TAIL.format(more=""),
    _parameters,
)
@layer("torch.nn.GRU", _GATED.format(more=""), _parameters)
def gru(at: OpContext, layer: Layer, input: Tensor, hx: Value | None = None) -> Value:
    """Run over a sequence with one state.

    input (T, B, input_size), or (B, T, input_size) with batch_first, or (T, input_size);
    hx (layers*directions, B, hidden_size), or without B
    -> output as input with directions*hidden_size last, h_n as hx
    Conflict: another rank; input_size differs; a state that does not fit.
    Source: PyTorch documentation, torch.nn.GRU, torch.nn.RNN.
    """
    stack, state = stack_of(at, layer), one_state(at, hx)
    output, wanted = _run(at, layer, stack, input, [] if state is None else [state])
    h_n = _state(at, stack, wanted, stack.out, input)
    if state is not None and not crossed(at, layer, input, [state]):
        check_state(at, state, "hidden", at.shape(h_n).items, _parts(wanted))
        _mark_state(at, state, wanted)
    return Seq((output, h_n))


@layer("torch.nn.LSTM", _GATED.format(more="proj_size: Dim = 0, "), _parameters)
def lstm(at: OpContext, layer: Layer, input: Tensor, hx: Value | None = None) -> Value:
    """Run over a sequence with a hidden and a cell state.

    input (T, B, input_size), or (B, T, input_size) with batch_first, or (T, input_size);
    hx: (h, c) with h (layers*directions, B, proj_size or hidden_size), c (layers*directions, B, hidden_size)
    -> output as input with directions*(proj_size or hidden_size) last, (h_n, c_n) as hx
    Conflict: another rank; input_size differs; no pair of states; a state that does not fit.
    Source: PyTorch documentation, torch.nn.LSTM.
    """
    stack, states = stack_of(at, layer), two_states(at, hx)
    output, wanted = _run(at, layer, stack, input, states or ())
    h_n = _state(at, stack, wanted, stack.out, input)
    c_n = _state(at, stack, wanted, stack.hidden, input)
    if states is not None and not crossed(at, layer, input, states):
        for state, which, new in zip(states, ("hidden", "cell"), (h_n, c_n), strict=True):
            check_state(at, state, which, at.shape(new).items, _parts(wanted))
            _mark_state(at, state, wanted)
    return Seq((output, Seq((h_n, c_n))))


def _run(
    at: OpContext, layer: Layer, stack: Stack, input: Tensor, states: tuple[Tensor, ...] | list[Tensor]
) -> tuple[Tensor, tuple[Axis | Run, ...]]:
    """The output, and what stands between the first and the last axis of a state: the batch, or nothing."""
    packed = is_packed(input)
    _learn_rank(at, input, states, packed)
    lead, last = at.leading(input)
    if last is not None:
        at.sizes.mark(expect(at, input, -1, stack.input, "input_size"), "feature", at.line)
    output = at.tensor((*lead, stack.last_axis(at)), input, kind="float")
    if not packed:
        return output, _middle(at, lead, flag(layer, "batch_first"))
    output.source = input.source
    return output, _middle(at, lead, input.source == PACKED_BATCH_FIRST)


def _learn_rank(at: OpContext, input: Tensor, states: tuple[Tensor, ...] | list[Tensor], packed: bool) -> None:
    shape = at.shape(input)
    if packed:
        at.need_rank(input, 3)
        return
    if shape.run is None or len(shape.axes) >= 3:
        at.need_rank(input, 2, 3)
        return
    for state in states:
        rank = at.shape(state).rank
        if rank in (2, 3) and len(shape.axes) <= rank:
            at.need_rank(input, rank)
            return
    run = shape.items[shape.run]
    if isinstance(run, Run) and run.most is None:
        at.sizes.bind_run(run, (Run(run.name, most=3 - len(shape.axes)),))


def _middle(at: OpContext, lead: tuple[Axis | Run, ...], batch_first: bool | None) -> tuple[Axis | Run, ...]:
    axes = [i for i in lead if isinstance(i, Axis)]
    if len(axes) < len(lead):
        run = Run()
        other = next(i for i in lead if isinstance(i, Run))
        at.sizes.relate_ranks(run, other, len(axes) - 1)
        return (run,)
    if len(axes) == 1:
        at.sizes.mark(axes[0], "time", at.line)
        return ()
    if batch_first is None:
        return (at.fresh(),)
    batch, time = axes if batch_first else axes[::-1]
    at.sizes.mark(batch, "batch", at.line)
    at.sizes.mark(time, "time", at.line)
    return (batch,)


def _state(at: OpContext, stack: Stack, middle: tuple[Axis | Run, ...], width: Dim, like: Tensor) -> Tensor:
    last = at.axis(width)
    at.sizes.mark(last, "feature", at.line)
    return at.tensor((stack.first_axis(at), *middle, last), like, kind="float")


def _parts(middle: tuple[Axis | Run, ...]) -> tuple[str, ...]:
    return ("layers", "batch", "hidden") if middle else ("layers", "hidden")


def _mark_state(at: OpContext, state: Tensor, middle: tuple[Axis | Run, ...]) -> None:
    axes = at.shape(state).axes
    if at.shape(state).rank == len(middle) + 2:
        at.sizes.mark(axes[-1], "feature", at.line)
        if len(axes) == 3:
            at.sizes.mark(axes[1], "batch", at.line)
