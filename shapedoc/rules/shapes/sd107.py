"""SD107 mismatched-recurrent-state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import Bool, Int, Layer, Seq, Tensor
from shapedoc.rules.reading.blame import (
    axis_of,
    build_call,
    clearest,
    faulty_call,
    handed_in,
    layer_of,
    operand_of,
    outside,
    problems,
)
from shapedoc.rules.reading.flow import graph, shape_at
from shapedoc.rules.reading.recurrent import is_single_step
from shapedoc.rules.reading.scores import CREATES, is_tainted, source_of
from shapedoc.rules.reading.sized import atom, equal, exchanged, made_before, only_if, quoted
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_KIND = "mismatched-recurrent-state"
_PARTS = {"layers": "layers times directions", "batch": "batch", "hidden": "hidden"}


@dataclass(frozen=True, slots=True)
class _State:
    """A state that does not fit the module it is passed to."""

    trace: Trace
    event: Event
    problem: Problem
    layer: Layer
    operand: Operand

    @property
    def text(self) -> str:
        return text_of(self.trace, self.operand)

    @property
    def axis(self) -> Axis | None:
        return axis_of(self.event, self.operand, self.problem.axes[0]) if self.problem.axes else None

    @property
    def is_cell(self) -> bool:
        return "Cell" in self.layer.kind

    @property
    def why(self) -> str:
        return self.problem.detail.get("why", "")

    @property
    def part(self) -> str:
        return self.problem.detail.get("part", "")


@dataclass(frozen=True, slots=True)
class _Cure:
    """Where the finding stands and what to write."""

    span: Span | None
    help: str
    labels: tuple[Label, ...] = ()
    why: str = ""


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, _KIND):
        severity = severity_of(problem.sameness)
        if severity is None or is_single_step(event, problem):
            continue
        event, problem = clearest(trace, event, problem)
        layer = layer_of(event)
        operand = (operand_of(trace, event, problem.operands[0]) if problem.operands else None) or event.operand("hx")
        if layer is None or operand is None or is_tainted(trace, operand):
            continue
        yield _found(_State(trace, event, problem, layer, operand), severity)


def _found(s: _State, severity: Severity) -> Finding:
    cure = _output(s) or _tuple(s) or _batch_first(s) or _created(s) or _taken_apart(s) or _call(s) or _argument(s)
    actual = shape_text(s.event, s.operand.shape)
    right = s.problem.detail.get("right", "")
    kind = s.layer.kind.rpartition(".")[2]
    return finding(
        s.trace,
        s.event,
        cure.span or s.operand.span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=_title(s),
        tensor=s.text,
        actual=actual,
        expected=right if right != actual else "",
        labels=cure.labels
        + label(s.operand.span, f"{s.text} is {actual}" if actual else f"{s.text} is passed here")
        + label(s.layer.span, f"{kind} is built here")
        + made_before(s.trace, s.event, s.operand)
        + call_labels(s.event),
        why=cure.why or _contract(s),
        notes=only_if(s.problem),
        help=cure.help,
    )


def _title(s: _State) -> str:
    name = s.layer.name or s.layer.kind.rpartition(".")[2]
    which = s.problem.detail.get("which", "hidden")
    wanted, got = s.problem.detail.get("wanted", ""), s.problem.detail.get("got", "")
    match s.why:
        case "tuple":
            return f"`{name}` needs {wanted} as its state, got {got}"
        case "rank":
            return f"`{name}` needs a {which} state of {wanted} axes, got {got}"
    part = _PARTS.get(s.part, s.part)
    return f"`{name}` needs a {which} state whose {part} size is {_wanted(s)}, got {quoted(s.event, s.axis)}"


def _wanted(s: _State) -> str:
    size = s.layer.config.get("hidden_size")
    projected = s.layer.config.get("proj_size")
    plain = not isinstance(projected, Int) or projected.value == 0
    if s.part == "hidden" and plain and isinstance(size, Int):
        return quoted(s.event, size.dim)
    return f"`{s.problem.sizes[1]}`"


def _contract(s: _State) -> str:
    if s.is_cell:
        return "a cell takes one step, so that its state is (batch, hidden_size)"
    return "the state of a recurrent module is (layers * directions, batch, hidden_size), also with batch_first=True"


def _output(s: _State) -> _Cure | None:
    """The outputs of all steps, passed where the last state was meant."""
    made = source_of(s.trace, s.operand)
    if made is None or not made.short.endswith(("GRU.forward", "LSTM.forward", "RNN.forward")):
        return None
    if not isinstance(made.result, Seq) or s.is_cell or not isinstance(s.operand.value, Tensor):
        return None
    if made.result.items[0] is not s.operand.value:
        return None
    return _Cure(
        _passed(s),
        "pass the second result of the encoder, its last state",
        label(made.span, f"{s.text} is the first result of this, the outputs"),
        "these are the outputs of all steps; a state is what was left after the last of them",
    )


def _tuple(s: _State) -> _Cure | None:
    if s.why != "tuple":
        return None
    text = s.text
    if s.problem.detail.get("got") == "a tuple":
        return _Cure(
            s.operand.span, f"pass the hidden state alone: {text}[0]", why="only an LSTM has a cell state besides"
        )
    return _Cure(
        _passed(s),
        f"({text}, torch.zeros_like({text}))",
        why="an LSTM carries a hidden and a cell state, (h, c)",
    )


def _passed(s: _State) -> Span | None:
    """Where the state was passed: the call of a class that is sound by itself, else the argument."""
    call = _outer(s)
    return call.span if call is not None else s.operand.span


def _outer(s: _State) -> Call | None:
    """The call of code that is sound by itself, where the state came from outside of it."""
    call = faulty_call(s.trace, s.event, (_KIND,), driver=True)
    made = source_of(s.trace, s.operand)
    inside = call is not None and made is not None and call.id in {c.id for c in made.calls}
    return None if inside else call


def _batch_first(s: _State) -> _Cure | None:
    """The state has the batch that lies at the other axis of the input: the module takes that axis for the time."""
    flag = s.layer.config.get("batch_first")
    shape = shape_at(s.event, s.event.operand("input"))
    if s.part != "batch" or s.is_cell or not isinstance(flag, Bool) or flag.value is None or s.axis is None:
        return None
    if shape is None or shape.rank != 3 or not equal(s.event, s.axis, shape.axes[1 if flag.value else 0]):
        return None
    text = text_of(s.trace, s.event.operand("input"))
    right = not flag.value
    return _Cure(
        s.layer.span,
        f"build it with batch_first={right}, or pass {exchanged(s.trace, s.event, s.event.operand('input'), 0, 1)}",
        label(s.event.span, f"{text} has its batch at axis {1 if flag.value else 0}"),
        f"with batch_first={flag.value} the module takes axis {0 if flag.value else 1} of its input for the batch",
    )


def _created(s: _State) -> _Cure | None:
    """An initial state that was made with the wrong sizes."""
    made = graph(s.trace).producer(s.operand.value)
    if made is None or made.short not in CREATES or s.problem.detail.get("right", "") == "":
        return None
    return _Cure(made.span, f"make it {s.problem.detail['right']}", label(made.span, f"{s.text} is made here"))


def _taken_apart(s: _State) -> _Cure | None:
    """A state that lost its layers where it was passed on: the call that was given it."""
    call = handed_in(s.trace, s.event, s.operand)
    made = graph(s.trace).producer(s.operand.value)
    if s.why != "rank" or s.is_cell or call is None or made is None or made.short not in ("getitem", "select"):
        return None
    return _Cure(
        call.span, "pass the whole state, (layers, batch, hidden)", label(made.span, "one layer is taken here")
    )


def _call(s: _State) -> _Cure | None:
    """The class that the module lies in is sound by itself."""
    call = _outer(s)
    if call is None:
        return None
    built = build_call(s.trace, s.layer, call)
    made = outside(s.trace, s.event, s.operand, call)
    comes = label(call.span, f"{s.text} comes in here")
    if built is not None and s.part == "hidden" and made is not None and made.short not in CREATES:
        got = quoted(s.event, s.axis)
        return _Cure(built.span, f"build it with the hidden size of the state that it gets, {got}", comes)
    named = s.trace.aliases.get(s.operand.value.uid) if isinstance(s.operand.value, Tensor) else None
    labels = label(built.span, "built here") if built is not None else ()
    if named is not None and made is not None and s.part == "layers":
        return _Cure(named, _argument(s).help, labels + comes)
    return _Cure(call.span, _argument(s).help, labels)


def _argument(s: _State) -> _Cure:
    text = atom(s.text)
    shape = shape_at(s.event, s.operand)
    rank = shape.rank if shape is not None else None
    if s.why == "rank":
        if s.is_cell:
            return _Cure(None, f"{text}[-1], the state of the last layer")
        return _Cure(None, f"{text}.unsqueeze(0)" if rank == 2 else f"bring {s.text} to three axes")
    axis = s.axis
    source = _bidirectional(s)
    if s.part == "layers" and axis is not None:
        swapped = rank == 3 and _swapped(s)
        if swapped:
            return _Cure(None, exchanged(s.trace, s.event, s.operand, 0, 1))
        if source is not None:
            return _Cure(
                None,
                f"join the two directions, torch.cat(({s.text}[0::2], {s.text}[1::2]), dim=-1), and map them to one",
                label(source.span, "this encoder has two directions, each with a state of its own"),
            )
    if s.part == "hidden":
        return _Cure(
            None, f"map it to {s.problem.sizes[1]} first, with a Linear({s.problem.sizes[0]}, {s.problem.sizes[1]})"
        )
    return _Cure(None, f"make {s.text} {s.problem.detail.get('right', 'the shape that the module needs')}")


def _swapped(s: _State) -> bool:
    """Whether the batch stands first in the state."""
    shape, given = shape_at(s.event, s.operand), shape_at(s.event, s.event.operand("input"))
    flag = s.layer.config.get("batch_first")
    if shape is None or given is None or given.rank != 3 or not isinstance(flag, Bool) or flag.value is None:
        return False
    return equal(s.event, shape.axes[0], given.axes[0 if flag.value else 1])


def _bidirectional(s: _State) -> Layer | None:
    made = source_of(s.trace, s.operand)
    layer = layer_of(made) if made is not None else None
    flag = layer.config.get("bidirectional") if layer is not None else None
    return layer if isinstance(flag, Bool) and flag.value else None


RULE = Rule(
    code="SD107",
    name="mismatched-recurrent-state",
    severity="error",
    summary="A recurrent module gets a state of another shape than it keeps.",
    what="Compares the state that is passed to `RNN`, `GRU`, `LSTM` and their cells with the one they keep: "
    "`(layers * directions, batch, hidden_size)`, `(batch, hidden_size)` for a cell, a tuple of two for an LSTM.",
    why="A bidirectional encoder leaves one state for each direction and layer, and a one-way decoder has room for "
    "one: its state is not what the decoder starts from. Outputs of all steps are not a state either, and "
    "`batch_first` does not move the batch of a state.",
    instead="Join the directions and map them (`torch.tanh(W(torch.cat((h[-2], h[-1]), dim=-1)))`), add the axis of "
    "layers with `unsqueeze(0)`, or build both modules with one hidden size.",
    source="PyTorch documentation, torch.nn.GRU, torch.nn.LSTM; Bahdanau et al. 2015, section A.2.2.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Translator(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.encoder = nn.GRU(d_embed, d_hidden, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(d_embed, d_hidden, batch_first=True)

    def forward(self, source, target):
        memory, hidden = self.encoder(source)
        output, _ = self.decoder(target, hidden)  # <- SD107
        return output


result = Translator(7, 11)(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.encoder = nn.GRU(d_embed, d_hidden)
        self.cell = nn.GRUCell(d_embed, d_hidden)

    def forward(self, source, token):
        memory, hidden = self.encoder(source)
        return self.cell(token, hidden)  # <- SD107


result = Decoder(7, 11)(torch.randn(5, 2, 7), torch.randn(2, 7))
""",
            raises="ValueError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Translator(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.encoder = nn.GRU(d_embed, d_hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * d_hidden, d_hidden)
        self.decoder = nn.GRU(d_embed, d_hidden, batch_first=True)

    def forward(self, source, target):
        memory, hidden = self.encoder(source)
        start = torch.tanh(self.bridge(torch.cat((hidden[-2], hidden[-1]), dim=-1)))
        output, _ = self.decoder(target, start.unsqueeze(0))
        return output


result = Translator(7, 11)(torch.randn(2, 5, 7), torch.randn(2, 3, 7))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.encoder = nn.GRU(d_embed, d_hidden)
        self.cell = nn.GRUCell(d_embed, d_hidden)

    def forward(self, source, token):
        memory, hidden = self.encoder(source)
        return self.cell(token, hidden[-1])


result = Decoder(7, 11)(torch.randn(5, 2, 7), torch.randn(2, 7))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: passes the whole state, takes a state that is never used, or "
        "builds the module with the size that it is fed."
    ),
    kind="loud",
)
