"""SD106 mismatched-module-input."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import Int, Layer
from shapedoc.rules.reading.blame import axis_of, clearest, faulty_call, layer_of, problems
from shapedoc.rules.reading.cells import CELLS
from shapedoc.rules.reading.flow import SHAPING, graph, shape_at
from shapedoc.rules.reading.layouts import is_mixed_up
from shapedoc.rules.reading.scores import is_tainted, weight_made
from shapedoc.rules.reading.sized import (
    equal,
    exchanged,
    is_made_one,
    is_named,
    made_before,
    only_if,
    quoted,
    same_size,
)
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.joins.joined import misjoined
from shapedoc.rules.shapes.maps.inputs import Feed, feed_of, place_of
from shapedoc.rules.shapes.maps.turned import turned_maps

__all__ = ["RULE"]

_ON = SHAPING | {"dropout", "Dropout.forward", "phi"}


def check(trace: Trace) -> Iterator[Finding]:
    fed = list(_fed(trace))
    yield from fed
    yield from turned_maps(trace, fed, RULE.code, RULE.name)


def _fed(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, "mismatched-module-input", "mismatched-batch", "mismatched-product"):
        severity = severity_of(problem.sameness)
        operand = event.operand(problem.operands[0]) if problem.operands else None
        if severity is None or is_tainted(trace, operand, noted=False):
            continue
        event, problem = clearest(trace, event, problem)
        if problem.kind != "mismatched-module-input":
            if layer_of(event) is not None or "pack" in event.short:
                yield from _batch(trace, event, problem, severity)
            continue
        if misjoined(trace, event, problem) is not None:
            continue  # SD104 stands on the join
        feed = feed_of(trace, event, problem)
        if feed is not None and ((severity == "note" and _in_a_row(feed)) or _is_default(feed)):
            continue
        if feed is not None:
            surely = severity == "note" and (_exchanged(feed) or _one_too_many(feed) or _stacked(feed))
            yield _found(feed, problem, "warning" if surely else severity)
        else:
            yield from _functional(trace, event, problem, severity)


def _found(feed: Feed, problem: Problem, severity: Severity) -> Finding:
    place = place_of(feed)
    wanted, got = quoted(feed.event, feed.wanted), quoted(feed.event, feed.axis)
    actual = shape_text(feed.event, feed.operand.shape)
    return finding(
        feed.trace,
        feed.event,
        place.span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{feed.layer.name or feed.kind}` is built with {feed.setting} {wanted} and fed {got}",
        tensor=feed.text,
        actual=actual,
        expected=place.expected,
        labels=place.labels
        + label(feed.operand.span, f"{feed.text} is {actual}")
        + label(feed.layer.span, f"{feed.kind} is built here")
        + made_before(feed.trace, feed.event, feed.operand)
        + call_labels(feed.event),
        why=f"{feed.kind} takes {feed.setting} at axis {feed.back} of its input, and {feed.text} is {actual}",
        notes=only_if(problem),
        help=place.help,
        causes=_causes(feed),
    )


def _causes(feed: Feed) -> tuple[str, ...]:
    """What a size that does not fit comes of: one taken for another all over a class, or one module built wrongly."""
    if feed.event.sizes is None:
        return ()
    wanted, got = (feed.event.sizes.show(axis.dim) for axis in (feed.wanted, feed.axis))
    if "?" in got or got.isdigit():
        return ()
    owner = feed.event.function.rpartition(".")[0] or feed.event.function
    taken = (f"{wanted} for {got} in {owner}",) if feed.wanted.dim.named else ()
    return (*taken, f"{got} for what was built on line {feed.layer.span.line} of {feed.layer.span.path}")


def _one_too_many(feed: Feed) -> bool:
    """Whether what is fed ends in an axis that was made as a 1, behind the very size that is wanted."""
    if feed.back != -1 or not is_made_one(feed.event, feed.axis) or len(feed.shape.suffix) < 2:
        return False
    return is_named(feed.event, feed.wanted) and equal(feed.event, feed.shape.suffix[-2], feed.wanted)


def _is_default(feed: Feed) -> bool:
    """Whether a parameter has the default 1, which no caller leaves, and what is fed has no name."""
    wanted = feed.layer.config.get(feed.setting)
    default = isinstance(wanted, Int) and wanted.name != "" and wanted.dim.const == 1
    return default and feed.axis.dim.const is None and not any(s.name for s in feed.axis.dim.syms)


def _in_a_row(feed: Feed) -> bool:
    """Whether modules of one class are called in a row, each with what one before it made, and all numbers fit."""
    sizes = feed.event.sizes
    wanted, got = (sizes.resolve(a.dim).value for a in (feed.wanted, feed.axis)) if sizes is not None else (None, None)
    g = graph(feed.trace)
    made = g.producer(feed.operand.value)
    if wanted is None or wanted != got or made is None:
        return False
    return any(e.span == feed.event.span for e in g.back(made, lambda e: e.function == feed.event.function))


def _stacked(feed: Feed) -> bool:
    """Whether recurrent layers, all built alike, get each what the one below has made, and are built for its input.

    That the two sizes are given apart says that they are not meant to be equal: only the lowest layer fits.
    """
    made = graph(feed.trace).producer(feed.operand.value)
    if feed.event.short not in CELLS or made is None:
        return False
    below = next((e for e in graph(feed.trace).back(made, lambda e: e.short in _ON) if e.short in CELLS), None)
    other = below.value("self") if below is not None else None
    return isinstance(other, Layer) and other.span == feed.layer.span and below is not None and below is not feed.event


def _exchanged(feed: Feed) -> bool:
    """Whether a linear map makes the very size that it is fed: then its two sizes are the wrong way round.

    Two sizes of one constructor may be equal on purpose, and nobody is to hear of that. That the input has exactly the
    size of the output, and the output is built from another, is no chance.
    """
    if feed.layer.kind != "torch.nn.Linear" or feed.event.sizes is None:
        return False
    made = feed.layer.config.get("out_features")
    sizes = feed.event.sizes
    return isinstance(made, Int) and sizes.resolve(made.dim) == sizes.resolve(feed.axis.dim)


def _functional(trace: Trace, event: Event, problem: Problem, severity: Severity) -> Iterator[Finding]:
    """A function with weights that are passed, or a window longer than what it slides over."""
    operand = event.operand(problem.operands[0]) if problem.operands else None
    if operand is None or len(problem.sizes) < 2:
        return
    text, setting = text_of(trace, operand), problem.detail.get("setting", "the size")
    got, wanted = problem.sizes[:2]
    yield _told(
        trace,
        event,
        problem,
        severity,
        f"`{event.short.removesuffix('.forward')}` takes `{wanted}` ({setting}) and is fed `{got}`",
        (operand,),
        call=faulty_call(trace, event, (problem.kind,)),
        why=f"{setting} says which size the input has there",
        help=f"give {text} `{wanted}` at that axis",
    )


def _told(
    trace: Trace,
    event: Event,
    problem: Problem,
    severity: Severity,
    message: str,
    operands: tuple[Operand, ...],
    *,
    call: Call | None,
    why: str,
    help: str,
) -> Finding:
    """A finding about the first of the operands; it stands on the call that brought it in, if one did."""
    texts = [(o, text_of(trace, o), shape_text(event, o.shape)) for o in operands]
    facts = [lb for o, text, shape in reversed(texts) for lb in label(o.span or event.span, f"{text} is {shape}")]
    return finding(
        trace,
        event,
        call.span if call is not None else operands[0].span,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=message,
        tensor=texts[0][1],
        actual=texts[0][2],
        labels=(*facts, *made_before(trace, event, *operands), *call_labels(event)),
        why=why,
        notes=only_if(problem),
        help=help,
        follows=is_mixed_up(trace, event),
    )


def _batch(trace: Trace, event: Event, problem: Problem, severity: Severity) -> Iterator[Finding]:
    """Inputs of one module whose batches differ: it broadcasts nothing."""
    pair = [event.operand(name) for name in problem.operands]
    if len(pair) != 2 or len(problem.axes) != 2 or pair[0] is None or pair[1] is None:
        return
    axes = [axis_of(event, o, p) for o, p in zip(pair, problem.axes, strict=True)]
    if axes[0] is None or axes[1] is None:
        return
    side = 1 if axes[1].dim.const == 1 and axes[0].dim.const != 1 else 0
    operand, other, axis, wanted = pair[side], pair[1 - side], axes[side], axes[1 - side]
    if operand is None or other is None or axis is None or wanted is None:
        return
    text = text_of(trace, operand)
    own = axis.dim.const == 1 and weight_made(trace, operand) is not None
    name = event.short.removesuffix(".forward")
    what = "batch size" if problem.kind == "mismatched-batch" else "length"
    if axis.dim.const == 1:
        help_ = _expanded(trace, event, problem, side)
    elif same_size(event, shape_at(event, operand), wanted) is not None:
        help_ = exchanged(trace, event, operand, 0, 1)
    else:
        help_ = f"give {text} the {what} of {text_of(trace, other)}"
    yield _told(
        trace,
        event,
        problem,
        severity,
        f"`{name}` needs one {what}, got {quoted(event, axis)} in `{operand.name}` and "
        f"{quoted(event, wanted)} in `{other.name}`",
        (operand, other),
        call=None if own else faulty_call(trace, event, (problem.kind,)),
        why=f"`{name}` pairs every element of one batch with one of the other, and broadcasts nothing"
        if what == "batch size"
        else "every key has a value of its own",
        help=help_,
    )


def _expanded(trace: Trace, event: Event, problem: Problem, side: int) -> str:
    operand, other = event.operand(problem.operands[side]), event.operand(problem.operands[1 - side])
    shape = shape_at(event, operand)
    text = text_of(trace, operand)
    if shape is None or shape.rank is None:
        return f"expand {text} over the batch"
    sizes = ["-1"] * shape.rank
    sizes[problem.axes[side]] = f"{text_of(trace, other)}.size({problem.axes[1 - side]})"
    return f"{text}.expand({', '.join(sizes)})"


RULE = Rule(
    code="SD106",
    name="mismatched-module-input",
    severity="error",
    summary="A library module is fed another size than it was built with.",
    what="Compares what `Linear`, `LayerNorm`, `GRU`, `LSTM`, `MultiheadAttention`, `Conv1d` and their kin were built "
    "with to the tensors they are called with. It stands on the size that the module was built with, or on the "
    "argument or the call where the evidence says so: an axis of the wanted size elsewhere in the tensor, heads not "
    "merged, a module that is fed rightly at another place, a class that is sound by itself.",
    why="The module's weights have the size it was built with. torch raises at the first call, in a line of its own "
    "that names neither the tensor nor the module.",
    instead="Build the module with the size of what it is fed: `2 * hidden_size` behind a bidirectional encoder, the "
    "sum of the sizes behind a `cat`.",
    source="PyTorch documentation, torch.nn.Linear, torch.nn.GRU, torch.nn.MultiheadAttention.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(d_hidden, d_hidden)  # <- SD106

    def forward(self, embedded):
        output, _ = self.rnn(embedded)
        return self.bridge(output)


result = Encoder(7, 11)(torch.randn(2, 5, 7))
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Local(nn.Module):
    def __init__(self, d_embed, d_out):
        super().__init__()
        self.conv = nn.Conv1d(d_embed, d_out, kernel_size=3, padding=1)

    def forward(self, embedded):
        batch_size, T, d_embed = embedded.shape
        return self.conv(embedded)  # <- SD106


result = Local(7, 11)(torch.randn(2, 5, 7))
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * d_hidden, d_hidden)

    def forward(self, embedded):
        output, _ = self.rnn(embedded)
        return self.bridge(output)


result = Encoder(7, 11)(torch.randn(2, 5, 7))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Local(nn.Module):
    def __init__(self, d_embed, d_out):
        super().__init__()
        self.conv = nn.Conv1d(d_embed, d_out, kernel_size=3, padding=1)

    def forward(self, embedded):
        batch_size, T, d_embed = embedded.shape
        return self.conv(embedded.transpose(1, 2)).transpose(1, 2)


result = Local(7, 11)(torch.randn(2, 5, 7))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: builds the module with the size that it is fed, or with `batch_first=True`."
    ),
    kind="loud",
)
