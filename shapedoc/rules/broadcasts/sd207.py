"""SD207 position-over-batch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Int, Layer, Seq, Tensor
from shapedoc.rules.broadcasts.sliced_tables import Cut, cut_features
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.elementwise import shallowest
from shapedoc.rules.reading.flow import SHAPING, events_of, graph, shape_at
from shapedoc.rules.reading.layouts import evidence, layouts, mixed_up
from shapedoc.rules.reading.positions import counting, is_positions
from shapedoc.rules.reading.softmaxes import softmaxes
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """Positions added to a sequence: which axis of it they run along, and which of its axes is time."""

    event: Event
    positions: Operand
    sequence: Operand
    along: Axis
    time: Axis | None
    why: str


def check(trace: Trace) -> Iterator[Finding]:
    seen: set[Span] = set()
    for meeting in shallowest(trace, "SD207"):
        time = meeting.high_shape.axes[meeting.home] if meeting.home is not None else None
        found = _Sum(meeting.event, meeting.low, meeting.high, meeting.other, time, "")
        if meeting.event.span not in seen and not _is_doubted(trace, found):
            seen.add(meeting.event.span)
            yield _found(trace, found)
    for event in sorted(trace.events, key=lambda e: len(e.calls)):
        if event.short != "add" or event.span in seen:
            continue
        operands = tensor_operands(event)
        for positions, sequence in (operands, operands[::-1]) if len(operands) == 2 else ():
            single = _single(trace, event, positions, sequence)
            if single is not None:
                seen.add(event.span)
                yield _one_for_all(trace, event, positions, sequence, *single)
                break
            total = _added(trace, event, positions, sequence)
            if total is not None and not _is_doubted(trace, total):
                seen.add(event.span)
                yield _found(trace, total)
                break
    cuts = sorted(cut_features(trace), key=lambda c: -len(c.event.calls))
    yield from (_along_features(trace, cut) for cut in {c.event.span: c for c in cuts}.values())
    yield from _per_example(trace)


def _along_features(trace: Trace, cut: Cut) -> Finding:
    """A table (n, d) of which the features are cut to the length of a sequence."""
    event, text = cut.event, text_of(trace, cut.table)
    shape, size = shape_text(event, cut.table.shape), event.sizes.show(cut.size) if event.sizes is not None else ""
    length = f"`{size}` features" if size.isidentifier() else "as many features as there are steps"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{text} {shape} has a row for each position, and {length} are taken of all rows",
        tensor=text,
        actual=shape,
        labels=label(cut.made.span, f"filled here, {shape}") + call_labels(event),
        why="the axis that counts positions is the first one: with an axis of size 1 before it, it would be the second",
        help=f"cut the rows, or give the table that axis where it is built: {text}.unsqueeze(0)",
    )


def _single(trace: Trace, event: Event, positions: Operand, sequence: Operand) -> tuple[Event, str] | None:
    """Where a table of positions is indexed with the length of what it is added to: that is one position."""
    g, sizes, shape = graph(trace), event.sizes, shape_at(event, sequence)
    made = g.producer(positions.value)
    while made is not None and made.short in SHAPING and made.short != "getitem":
        made = g.main_source(made)
    if made is None or made.short != "getitem" or shape is None or shape.rank is None or sizes is None:
        return None
    table = g.producer(made.value("input"))
    kinds = {e.short for e in g.back(table, lambda _: True)} if table is not None else set()
    if "arange" not in kinds or kinds.isdisjoint(("sin", "cos")):
        return None
    index = made.value("index")
    parts = index.items if isinstance(index, Seq) else (index,)
    lengths = [sizes.resolve(a.dim) for a in shape.axes[:-1] if a.dim.const is None]
    found = next((p for p in parts if isinstance(p, Int) and sizes.resolve(p.dim) in lengths), None)
    return (made, sizes.show(found.dim)) if found is not None else None


def _one_for_all(trace: Trace, event: Event, positions: Operand, sequence: Operand, index: Event, size: str) -> Finding:
    text = text_of(trace, positions)
    return finding(
        trace,
        event,
        index.span if not index.span.path else None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{text} {shape_text(event, positions.shape)} is the position `{size}` alone: every step gets the same",
        tensor=text,
        actual=shape_text(event, positions.shape),
        labels=label(event.span, f"added to {text_of(trace, sequence)} {shape_text(event, sequence.shape)}")
        + call_labels(event),
        why="an index takes one row of the table, a slice takes those of all steps",
        help=f"slice it: `:{size}`",
    )


# What a batch's size is called; one letter may be anything.
_BATCH = re.compile(r"(?:^|_)(?:batch|batch_?size|bsz?|n_?batch)(?:$|_)", re.IGNORECASE)


def _per_example(trace: Trace) -> Iterator[Finding]:
    """A module that learns a row of its own for every place in the batch."""
    seen: set[Span] = set()
    for event in events_of(trace, ("Parameter",)):
        built = event.function.endswith(".__init__") and event.span not in seen and not event.span.path
        frozen = event.value("requires_grad")
        if not built or event.shape is None or event.sizes is None or isinstance(frozen, Bool):
            continue
        size = next((s for a in event.shape.axes if _BATCH.search(s := event.sizes.show(a.dim))), None)
        if size is not None:
            seen.add(event.span)
            name = event.target.removeprefix("self.") or "the parameter"
            yield finding(
                trace,
                event,
                None,
                code=RULE.code,
                name=RULE.name,
                severity="warning",
                message=f"{name} {shape_text(event, event.shape)} has one row for each place in the batch `{size}`",
                tensor=name,
                actual=shape_text(event, event.shape),
                labels=call_labels(event),
                why="which place an example has in a batch says nothing of it: what is learnt is learnt for places, "
                "and a batch of another size does not fit",
                help="one row for all: leave the axis away, and expand it where it is used",
            )


def _is_doubted(trace: Trace, total: _Sum) -> bool:
    """Whether it is the module which takes that axis for the batch that is wrong, by more than the positions: SD602.

    So may be one which does so by a default of its own class, and is built otherwise.
    """
    doubted = (layout for layout in layouts(trace) if layout.batch.same(total.along))
    return any(
        layout.layer.span in mixed_up(trace)
        or _by_default(layout.layer)
        or sum(e.weight for e in evidence(trace, layout)) >= 2
        for layout in doubted
    )


def _by_default(layer: Layer) -> bool:
    """Whether which axis is the batch is what a constructor's parameter is by default."""
    first = layer.config.get("batch_first")
    return isinstance(first, Bool) and bool(first.parameter)


def _added(trace: Trace, event: Event, positions: Operand, sequence: Operand) -> _Sum | None:
    """A table (n, 1, d) on a sequence (B, T, d): it runs along the batch."""
    mine, theirs = shape_at(event, positions), shape_at(event, sequence)
    if mine is None or theirs is None or mine.rank is None or theirs.rank is None or theirs.rank < 3:
        return None
    if mine.rank == 1 and _is_row(trace, positions):
        single = _picked(trace, event, positions, theirs)
        return _Sum(event, positions, sequence, single, single, "picked") if single is not None else None
    if mine.rank < 2 or not is_positions(trace, positions) or is_positions(trace, sequence):
        return None
    single = _picked(trace, event, positions, theirs)
    if single is not None:
        return _Sum(event, positions, sequence, single, single, "picked")
    along = [p for p in range(-mine.rank, -1) if mine.axes[p].dim != ONE]
    still = [p for p in range(-mine.rank, -1) if mine.axes[p].dim == ONE]
    if mine.rank != theirs.rank or len(along) != 1 or len(still) != 1:
        return None
    batch, time = theirs.axes[along[0]], theirs.axes[still[0]]
    if batch.dim == ONE or time.dim == ONE or not _is_time(trace, event, time, batch):
        return None
    return _Sum(event, positions, sequence, batch, time, "")


def _is_time(trace: Trace, event: Event, time: Axis, batch: Axis) -> bool:
    """Whether one axis is the sequence and the other the batch: by what modules or a softmax do with them."""
    sizes = event.sizes
    if sizes is None:
        return False
    if sizes.role(batch, "time") is not None or sizes.role(time, "batch") is not None:
        return False
    if sizes.role(batch, "batch") is not None or sizes.role(time, "time") is not None:
        return True
    start, stop = next(((a, b) for _, a, b, _ in trace.entries if a <= event.index < b), (0, 0))
    normalised = [s.axis for s in softmaxes(trace) if s.axis is not None and start <= s.event.index < stop]
    return any(a.same(time) for a in normalised) and not any(a.same(batch) for a in normalised)


def _is_row(trace: Trace, operand: Operand) -> bool:
    """Whether a tensor is one row of a learned table, by a plain index."""
    made = graph(trace).producer(operand.value)
    table = made.value("input") if made is not None and made.short == "getitem" else None
    return isinstance(table, Tensor) and table.learned


def _picked(trace: Trace, event: Event, positions: Operand, sequence: Shape) -> Axis | None:
    """The axis of the sequence whose length was used as an index into the table, where a slice was meant."""
    g = graph(trace)
    made = g.producer(positions.value)
    for _ in range(20):
        if made is None or made.short not in SHAPING:
            return None
        if made.short == "getitem":
            index = made.value("index")
            for item in index.items if isinstance(index, Seq) else (index,):
                if isinstance(item, Int) and item.dim.syms:
                    return next((a for a in sequence.axes if a.dim == item.dim), None)
        made = g.main_source(made)
    return None


def _cut(trace: Trace, total: _Sum) -> Span | None:
    """Where the positions got the length of the batch: the `arange`, else the slice of the table."""
    g = graph(trace)
    made = g.producer(total.positions.value)
    if made is None:
        return None
    source = counting(g, made)
    if source is not None and not source.span.path:
        return source.span
    for _ in range(20):
        if made is None or made.short not in SHAPING:
            break
        if made.short == "getitem" and not made.span.path and made.function == total.event.function:
            return made.span
        made = g.main_source(made)
    return total.positions.span


def _found(trace: Trace, total: _Sum) -> Finding:
    event = total.event
    text, other = text_of(trace, total.positions), text_of(trace, total.sequence)
    actual, beside = shape_text(event, total.positions.shape), shape_text(event, total.sequence.shape)
    sizes = event.sizes
    along = sizes.show(total.along.dim) if sizes is not None else "?"
    time = sizes.show(total.time.dim) if sizes is not None and total.time is not None else "?"
    where = f"`{along}`" if along != "?" else "the batch"
    title = f"the positions {text} {actual} run along {where} of {other} {beside}, not along time"
    if total.why == "picked":
        title = f"the length {where} picks a single position out of the table, where a slice was meant"
    numpy = isinstance(total.positions.value, Tensor) and total.positions.value.library == "numpy"
    return finding(
        trace,
        event,
        _cut(trace, total),
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=title,
        tensor=text,
        actual=actual,
        expected=f"(1, {time}, {_last(event, total)})" if time != "?" else "",
        labels=label(event.span, f"{other} is {beside}") + call_labels(event),
        why="a position says where in its sequence an element stands: it varies along time and is the same for all "
        "examples",
        help="slice it: `[:, :T]`"
        if total.why == "picked"
        else f"cut the table to the length of time and give it a leading 1{': `table[None, :T]`' if numpy else ''}",
    )


def _last(event: Event, total: _Sum) -> str:
    shape = shape_at(event, total.sequence)
    return event.sizes.show(shape.suffix[-1].dim) if shape is not None and shape.suffix and event.sizes else "?"


RULE = Rule(
    code="SD207",
    name="position-over-batch",
    severity="error",
    summary="Positional encodings run along the batch instead of along time, or a module learns one row for each place "
    "in the batch.",
    what="Follows tables of positions (sines, a learned parameter, an embedding of an `arange`) to the sum with a "
    "sequence, and looks which of its axes they vary along. Which axis is time is read from the modules that the "
    "sequence goes through, and from what a softmax normalises. Reports parameters that a constructor builds with an "
    "axis of the size of a batch, by its name.",
    why="With `pe` as `(max_len, 1, d)` and `x` as `(B, T, d)`, `x + pe[: x.size(0)]` adds one position to all "
    "elements "
    "of an example, and another one to the next example. Nothing raises.",
    instead="Register the table as `(1, max_len, d)` and add `pe[:, : x.size(1)]`.",
    source="Vaswani et al. 2017, section 3.5; PyTorch tutorial, Language Modeling with nn.Transformer (time first).",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim, heads, max_len=50):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.positions = nn.Parameter(torch.randn(max_len, 1, dim))
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + self.positions[: x.size(0)]  # <- SD207
        return self.attention(x, x, x)[0]


torch.manual_seed(0)
result = Encoder(11, 6, 2)(torch.randint(11, (3, 4)))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim, heads, max_len=50):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.positions = nn.Parameter(torch.randn(1, max_len, dim))
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + self.positions[:, : x.size(1)]
        return self.attention(x, x, x)[0]


torch.manual_seed(0)
result = Encoder(11, 6, 2)(torch.randint(11, (3, 4)))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: cuts the table to the length of time, and gives it a leading axis of size 1."
    ),
    kind="silent",
)
