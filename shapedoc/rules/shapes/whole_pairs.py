"""Pairs, which recurrent layers and attention give, taken where one tensor is."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Seq, Tensor, Unknown, Value
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of

__all__ = ["whole_pairs"]

_GIVES = {
    "RNN.forward": "the outputs and the last state",
    "GRU.forward": "the outputs and the last state",
    "LSTM.forward": "the outputs and the last states",
    "LSTMCell.forward": "the hidden state and the memory",
    "MultiheadAttention.forward": "the output and the weights",
}
# What takes tensors alone, by the names of its operands.
_ONE = ("input", "other", "mat2", "tensor", "query", "key", "value")
_TAKES = names(
    "Linear.forward Conv1d.forward LayerNorm.forward BatchNorm1d.forward RNN.forward GRU.forward LSTM.forward "
    "Dropout.forward ReLU.forward Tanh.forward Sigmoid.forward Softmax.forward MultiheadAttention.forward "
    "linear relu tanh sigmoid softmax log_softmax dropout layer_norm add sub mul div matmul bmm mm setitem einsum"
)


def whole_pairs(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """``states = lstm(x)``, and then ``linear(states)``, which raises: the pair was to be taken apart."""
    given: dict[int, Event] = {}
    seen: set[Span] = set()
    for event in trace.events:
        if event.short in _GIVES and isinstance(event.result, Seq | Unknown):
            given[id(event.result)] = event
        if not given or event.short not in _TAKES or event.spoilt:
            continue
        for operand in _taken(event):
            made = given.get(id(_before_it_was_stated(trace, operand.value)))
            if made is not None and made.span not in seen:
                seen.add(made.span)
                yield _found(trace, event, operand, made, code, name)


def _taken(event: Event) -> Iterator[Operand]:
    """The operands that are to be one tensor each."""
    for operand in event.operands:
        if event.short == "einsum":
            yield from operand.parts
        elif operand.name in _ONE:
            yield operand


def _before_it_was_stated(trace: Trace, value: Value) -> Value:
    """What a comment states the shape of, as if it were one tensor."""
    if isinstance(value, Tensor) and 0 <= value.event < len(trace.events):
        event = trace.events[value.event]
        if event.op == "stated" and event.operands:
            return event.operands[0].value
    return value


def _found(trace: Trace, event: Event, operand: Operand, made: Event, code: str, name: str) -> Finding:
    what, text = _GIVES[made.short], text_of(trace, operand)
    called = trace.source(made.span).partition("(")[0].strip() if not made.span.path else ""
    taker = "an entry" if event.short == "setitem" else f"`{event.short.removesuffix('.forward')}`"
    return finding(
        trace,
        event,
        made.span,
        code=code,
        name=name,
        severity="error",
        message=f"`{called or made.short.removesuffix('.forward')}` gives a pair, {what}, and {taker} takes one tensor",
        tensor=text,
        labels=label(operand.span or event.span, "the whole pair goes in here") + call_labels(event),
        why="a tuple is no tensor: torch raises a TypeError, or takes its two parts for one more axis",
        help="take the pair apart: `output, _ = ...`",
    )
