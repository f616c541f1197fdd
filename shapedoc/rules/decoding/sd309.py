"""SD309 last-step-of-padded-sequence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Label
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Int, Seq, Tensor
from shapedoc.core.written import Parameter
from shapedoc.rules.decoding.reordered import mixed_orders
from shapedoc.rules.reading.cells import Cell
from shapedoc.rules.reading.contractions import literal, names, tensor_operands
from shapedoc.rules.reading.encoders import Taken, index_parts, is_bidirectional, is_whole, taken
from shapedoc.rules.reading.flow import Graph, axis_at, graph, shape_at
from shapedoc.rules.reading.wording import call_labels, finding, label, named
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_LENGTHS = re.compile(r"(?:\w+_)?(?:len|lens|length|lengths|seq_?lens?|n_words)", re.IGNORECASE)
_UNPACK = "pad_packed_sequence"
_CUTS = names("getitem chunk split narrow view reshape unflatten")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for event in trace.events:
        if event.short == _UNPACK and isinstance(event.result, Seq) and event.result.items:
            padded = event.result.items[0]
            first = event.value("batch_first")
            time = 1 if isinstance(first, Bool) and first.value else 0
            if isinstance(padded, Tensor):
                for user in _last_steps(g, event, padded, time):
                    yield _of_padding(trace, user, event)
    for part in taken(trace, g):
        batch_first = part.cell.layer.config.get("batch_first")
        if part.part == "out" and isinstance(batch_first, Bool) and not _is_packed(g, part.cell):
            for user in _last_examples(g, part) if batch_first.value else ():
                yield _of_batch(trace, user, part.cell)
            for user in _last_steps(g, part.cell.event, part.tensor, 1 if batch_first.value else 0):
                lengths = _ignored_lengths(trace, user)
                if lengths is not None and not is_bidirectional(part.cell):
                    yield _of_unread(trace, user, lengths)
        if part.part != "out" or not is_bidirectional(part.cell) or not isinstance(batch_first, Bool):
            continue
        if batch_first.value is None:
            continue
        for user in _last_steps(g, part.cell.event, part.tensor, 1 if batch_first.value else 0):
            if not any(e.short in _CUTS for e in g.users[user.index]):
                yield _of_backward(trace, user, label(part.cell.layer.span, "built bidirectional"))
    for event, values, picked in mixed_orders(trace):
        yield _mixed(trace, event, values, picked)


def _mixed(trace: Trace, event: Event, values: Operand, picked: Event) -> Finding:
    """Weights of a batch in one order sum the values of a batch in another."""
    text = named(trace, values)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the weights come of {text} in another order than the values have",
        tensor=text,
        labels=label(picked.span, "put in another order here, for the scores") + call_labels(event),
        why="each sequence is summed with the weights of another one",
        help=f"use the reordered {text} for the values too, or undo the order before",
    )


def _last_steps(g: Graph, made: Event, tensor: Tensor, time: int) -> Iterator[Event]:
    """The indices that take the last step of a sequence, with all of its features."""
    for user in g.users[made.index]:
        if user.short != "getitem" or not any(o.value is tensor for o in tensor_operands(user)):
            continue
        parts = index_parts(user.value("index"))
        if parts is None or len(parts) <= time or not isinstance(parts[time], Int) or literal(parts[time]) != -1:
            continue
        if all(is_whole(p) for i, p in enumerate(parts) if i != time):
            yield user


def _last_examples(g: Graph, part: Taken) -> Iterator[Event]:
    """The indices that take the last example of a batch, the first axis, with all of its steps, in a function."""
    for user in _last_steps(g, part.cell.event, part.tensor, 0):
        shape, parts = shape_at(user, user.operand("input")), index_parts(user.value("index"))
        rank = shape.rank if shape is not None else None
        if user.span.path or not user.calls or (rank != 3 and (rank is not None or parts is None or len(parts) != 3)):
            continue
        examples = axis_at(shape, 0)
        if examples is None or examples.dim.value is None:
            yield user


def _of_batch(trace: Trace, event: Event, cell: Cell) -> Finding:
    name = cell.layer.name or cell.event.short.removesuffix(".forward")
    text = trace.source(event.span)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{text} is the last example of the batch, with all its steps, not the last step",
        tensor=named(trace, next(iter(tensor_operands(event)), None)),
        labels=label(cell.layer.span, f"`{name}` is built with batch_first=True: the batch comes first")
        + call_labels(event),
        why="the outputs of every other example are left out, and nothing raises",
        help=f"`{text.partition('[')[0]}[:, -1]`",
    )


def _of_padding(trace: Trace, event: Event, unpacked: Event) -> Finding:
    return _report(
        trace,
        event,
        "error",
        "is padding for every sequence that is shorter than the longest",
        label(unpacked.span, "padded here to the longest sequence"),
        "outputs behind a sequence's end are zeros: the last step of the batch is that of its longest sequence",
        "take `h_n[-1]`, or gather at `lengths - 1`",
    )


def _is_packed(g: Graph, cell: Cell) -> bool:
    made = g.producer(cell.event.value("input"))
    return made is not None and made.short == "pack_padded_sequence"


def _ignored_lengths(trace: Trace, event: Event) -> Parameter | None:
    """The lengths that the function is given and never reads."""
    if event.span.path:
        return None
    for function in trace.written.named(event.function):
        found = function.ignored(_LENGTHS.fullmatch)
        if len(found) == 1:
            return found[0]
    return None


def _of_unread(trace: Trace, event: Event, lengths: Parameter) -> Finding:
    return _report(
        trace,
        event,
        "warning",
        f"is that of the padding: `{lengths.name}` says where each sequence ends, and is never read",
        label(lengths.span, "given, and never read"),
        "a batch whose lengths differ is padded to the longest: behind a shorter sequence's end the module goes on "
        "reading padding",
        f"gather at `{lengths.name} - 1`, or pack the input and take `h_n[-1]`",
    )


def _of_backward(trace: Trace, event: Event, labels: tuple[Label, ...]) -> Finding:
    return _report(
        trace,
        event,
        "warning",
        "holds a backward direction that has read one step only",
        labels,
        "the backward direction starts at the end: its summary of the sequence is at the first step, or in h_n[-1]",
        "join `h_n[-2]` and `h_n[-1]`",
    )


def _report(
    trace: Trace, event: Event, severity: Severity, what: str, labels: tuple[Label, ...], why: str, step: str
) -> Finding:
    operand = next(iter(tensor_operands(event)), None)
    text = trace.source(event.span) if not event.span.path else named(trace, operand)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"the last step, {text}, {what}",
        tensor=named(trace, operand),
        labels=labels + call_labels(event),
        why=why,
        help=step,
    )


RULE = Rule(
    code="SD309",
    name="last-step-of-padded-sequence",
    severity="warning",
    summary="The last step of padded outputs, or of a backward direction, is taken for the summary of a sequence.",
    what="Looks for an index -1 on the time axis of what `pad_packed_sequence` returns, and of the outputs of a "
    "bidirectional module; for an index -1 on the batch of a module's outputs, which takes the last example; and for "
    "scores of a batch that was sorted by length whose values were not.",
    why="Shorter sequences end before the last step: there the outputs are zeros. And the backward direction begins at "
    "the last step: there it has seen one token.",
    instead="Take the state that the module returns, or gather the outputs at `lengths - 1`.",
    source="PyTorch documentation, torch.nn.utils.rnn.pad_packed_sequence; torch.nn.LSTM, output and h_n.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def summarise(rnn, embedded, lengths):
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    outputs, lengths = pad_packed_sequence(rnn(packed)[0], batch_first=True)
    return outputs[:, -1]  # <- SD309


torch.manual_seed(0)
result = summarise(nn.GRU(3, 7, batch_first=True), torch.randn(2, 5, 3), torch.tensor([5, 3]))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence


def summarise(rnn, embedded, lengths):
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    outputs, hidden = rnn(packed)
    return hidden[-1]


torch.manual_seed(0)
result = summarise(nn.GRU(3, 7, batch_first=True), torch.randn(2, 5, 3), torch.tensor([5, 3]))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: takes the state that the module returns for the end of each "
        "sequence or, in one direction, the output at `lengths - 1`."
    ),
    kind="silent",
)
