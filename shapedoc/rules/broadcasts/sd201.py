"""SD201 silent-broadcast."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.trace import Call, Operand, Trace
from shapedoc.rules.broadcasts.beams import Beams, lined_up
from shapedoc.rules.broadcasts.inserted import one_inserted
from shapedoc.rules.broadcasts.layered import Layered, layered_queries
from shapedoc.rules.broadcasts.outer import leftover
from shapedoc.rules.broadcasts.picked import Picked, picked_entries
from shapedoc.rules.reading.blame import faulty_call, handed_in
from shapedoc.rules.reading.elementwise import Meeting, is_layered, shallowest
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import atom, made_before, quoted
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for meeting in shallowest(trace, "SD201"):
        severity = severity_of(meeting.sameness)
        if leftover(meeting.event) is not None:
            continue  # SD202 says that the axis of size 1 was to be dropped
        if severity is not None and not is_tainted(trace, meeting.low) and not is_tainted(trace, meeting.high):
            yield _found(trace, meeting, severity)
    for layered in layered_queries(trace):
        yield _of_layers(trace, layered)
    for picked in {p.event.span: p for p in picked_entries(trace)}.values():
        yield _of_entry(trace, picked)
    for beams in lined_up(trace):
        yield _of_beams(trace, beams)


def _of_beams(trace: Trace, beams: Beams) -> Finding:
    event, text, classes = beams.event, text_of(trace, beams.scores), text_of(trace, beams.classes)
    actual = shape_text(event, beams.shape)
    return finding(
        trace,
        event,
        beams.scores.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{text} {actual} has a score for each hypothesis, and is added along the classes of {classes}",
        tensor=text,
        actual=actual,
        labels=label(event.span, f"{classes} is {shape_text(event, beams.classes.shape)}")
        + label(beams.made.span, "the scores of the next step are made here")
        + call_labels(event),
        why="axes meet from the right: the score of hypothesis k goes to class k of every hypothesis, not to all "
        "that goes on from k",
        notes=("runs only where sizes happen to agree, or one of them is 1",),
        help=f"{atom(text)}.unsqueeze(1)",
    )


def _of_entry(trace: Trace, picked: Picked) -> Finding:
    event, text, beside = picked.event, text_of(trace, picked.entry), text_of(trace, picked.whole)
    before = ", ".join([":"] * picked.axis)
    return finding(
        trace,
        event,
        picked.entry.span,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"{text} is one entry of axis {picked.axis}, and its axes line up with other ones of {beside}",
        tensor=text,
        labels=label(event.span, f"{text} has an axis fewer than {beside}") + call_labels(event),
        why="axes meet from the right, whatever they are called: what is taken for row i is applied to column i",
        notes=("runs only where sizes happen to agree, or one of them is 1",),
        help=f"keep the axis as a 1: `[{before}, i : i + 1]`, or `[{before}, i, None]`",
    )


def _of_layers(trace: Trace, layered: Layered) -> Finding:
    event, state, memory = layered.event, text_of(trace, layered.state), text_of(trace, layered.memory)
    size = quoted(event, layered.layers)
    actual = shape_text(event, layered.state.shape)
    return finding(
        trace,
        event,
        layered.state.span,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"{state} {actual} has its layers, {size}, where {memory} has its time steps",
        tensor=state,
        actual=actual,
        labels=label(layered.cell.event.span, "a state has one element for each layer: it goes in here")
        + label(layered.memory.span, f"{memory} is added to it")
        + call_labels(event),
        why="a state of one layer is repeated along the time steps; one of several layers is added step by layer",
        notes=(f"runs only if {size} is 1 or the number of time steps",),
        help=f"take the last layer: `{state}[-1]`, with an axis of size 1 for the time",
    )


def _told(
    trace: Trace,
    meeting: Meeting,
    severity: Severity,
    message: str,
    *,
    tensor: Operand,
    call: Call | None,
    expected: str = "",
    why: str,
    note: str,
    help: str,
) -> Finding:
    """A finding about one of the two tensors that meet; it stands on the call that brought it in, if one did."""
    event, other = meeting.event, meeting.high if tensor is meeting.low else meeting.low
    return finding(
        trace,
        event,
        call.span if call is not None else tensor.span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=message,
        tensor=text_of(trace, tensor),
        actual=shape_text(event, tensor.shape),
        expected=expected,
        labels=label(event.span, f"{text_of(trace, other)} is {shape_text(event, other.shape)}")
        + made_before(trace, event, tensor, other)
        + call_labels(event),
        why=why,
        notes=(note,),
        help=help,
        causes=(f"{quoted(event, meeting.axis)} beside {quoted(event, meeting.other)} in {event.function}",),
    )


def _found(trace: Trace, meeting: Meeting, severity: Severity) -> Finding:
    event, low, high = meeting.event, text_of(trace, meeting.low), text_of(trace, meeting.high)
    actual, beside = shape_text(event, meeting.low.shape), shape_text(event, meeting.high.shape)
    if is_layered(event, meeting.axis, meeting.other):
        return _layers(trace, meeting, severity)
    ours, theirs = quoted(event, meeting.axis), quoted(event, meeting.other)
    how = f"its {ours} lines up with {theirs}" if ours != theirs else "its axes line up with other ones"
    written, expected = one_inserted(trace, meeting)
    when = meeting.sameness.when if meeting.sameness is not None else ""
    return _told(
        trace,
        meeting,
        severity,
        f"{low} {actual} is repeated along {high} {beside}: {how}",
        tensor=meeting.low,
        call=faulty_call(trace, event, ("elementwise",)) if event.problems else None,
        expected=expected,
        why="axes meet from the right, whatever they are called: a tensor with fewer axes gets the missing ones in "
        "front",
        note=f"runs only if {when}, and mixes rows then" if when else "runs where the two sizes happen to agree",
        help=written,
    )


def _layers(trace: Trace, meeting: Meeting, severity: Severity) -> Finding:
    """The layers of a state beside the steps of a sequence."""
    event, sizes = meeting.event, meeting.event.sizes
    first = sizes is not None and sizes.role(meeting.axis, "layers") is not None
    state, other = (meeting.low, meeting.high) if first else (meeting.high, meeting.low)
    text, beside = text_of(trace, state), text_of(trace, other)
    actual, theirs = shape_text(event, state.shape), shape_text(event, other.shape)
    return _told(
        trace,
        meeting,
        severity,
        f"the layers of the state {text} {actual} line up with the steps of {beside} {theirs}",
        tensor=state,
        call=handed_in(trace, event, state),
        why="a state holds one vector for every layer; what a step is compared with is the state of the last one",
        note="runs where there is one layer, or as many as steps",
        help=f"take the last layer: `{text}[-1]`, or the output of the step",
    )


RULE = Rule(
    code="SD201",
    name="silent-broadcast",
    severity="error",
    summary="A tensor with fewer axes is broadcast along axes that are not its own.",
    what="Looks at elementwise arithmetic between tensors of different rank, lines their axes up from the right as "
    "torch and NumPy do, and compares names, identities and roles: the batch of a state beside the time steps of the "
    "memory, for instance. A tensor of unknown rank and one entry of a later axis of it, `x - x[:, 0]`, line up for no "
    "rank.",
    why="`(B, d) + (B, T, d)` adds the state of batch element t to time step t. It raises for most sizes, and runs "
    "when B == T or when one of them is 1, which is what a test with a square batch has.",
    instead="Insert the missing axis: `state.unsqueeze(1)` is `(B, 1, d)`.",
    source="PyTorch documentation, Broadcasting semantics; Bahdanau et al. 2015, appendix A.1.2.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Additive(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.query = nn.Linear(d_s, d_attn)
        self.key = nn.Linear(d_h, d_attn)

    def forward(self, state, memory):
        batch_size, T_enc, d_h = memory.shape
        batch_size, d_s = state.shape
        return torch.tanh(self.query(state) + self.key(memory))  # <- SD201


torch.manual_seed(0)
result = Additive(5, 7, 4)(torch.randn(3, 5), torch.randn(3, 3, 7))
"""
        ),
        Example(
            """\
import numpy as np


def gated(gate, memory):
    batch_size, T_enc, d_h = memory.shape
    batch_size, d_h = gate.shape
    return memory * gate  # <- SD201


rng = np.random.default_rng(0)
result = gated(rng.normal(size=(3, 5)), rng.normal(size=(3, 3, 5)))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Additive(nn.Module):
    def __init__(self, d_s, d_h, d_attn):
        super().__init__()
        self.query = nn.Linear(d_s, d_attn)
        self.key = nn.Linear(d_h, d_attn)

    def forward(self, state, memory):
        batch_size, T_enc, d_h = memory.shape
        batch_size, d_s = state.shape
        return torch.tanh(self.query(state).unsqueeze(1) + self.key(memory))


torch.manual_seed(0)
result = Additive(5, 7, 4)(torch.randn(3, 5), torch.randn(3, 3, 7))
"""
        ),
        Example(
            """\
import numpy as np


def gated(gate, memory):
    batch_size, T_enc, d_h = memory.shape
    batch_size, d_h = gate.shape
    return memory * gate[:, None, :]


rng = np.random.default_rng(0)
result = gated(rng.normal(size=(3, 5)), rng.normal(size=(3, 3, 5)))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: puts in the axis of size 1 that is asked for, or takes a "
        "tensor that is never used."
    ),
    kind="silent",
)
