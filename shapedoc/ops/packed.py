"""Packed sequences: batches of sequences of several lengths without their padding.

A packed sequence is a Tensor whose source says so, `PACKED` or `PACKED_BATCH_FIRST`; its shape is that of the padded
sequence, (T, B, *) or (B, T, *). What torch keeps instead, one row for every step of every sequence, has no such axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind
from shapedoc.core.value import Int, Seq, Tensor, Value
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import first_axes
from shapedoc.ops.registry import op

__all__ = ["PACKED", "PACKED_BATCH_FIRST", "is_packed", "pack_padded_sequence", "pad_packed_sequence"]

# No name of a parameter, which may stand there as well, has a blank in it.
PACKED, PACKED_BATCH_FIRST = "packed sequence", "packed sequence, batch first"


def is_packed(value: Value) -> bool:
    """Whether a value is a packed sequence."""
    return isinstance(value, Tensor) and value.source in (PACKED, PACKED_BATCH_FIRST)


@op("torch.nn.utils.rnn.pack_padded_sequence")
def pack_padded_sequence(
    at: OpContext, input: Tensor, lengths: Value, batch_first: bool = False, enforce_sorted: Value | None = None
) -> Value:
    """Pack a padded batch of sequences.

    input (T, B, *), or (B, T, *) with batch_first; lengths (B,) -> a packed sequence
    Conflict: fewer than two axes; another number of lengths than sequences.
    Source: PyTorch documentation, torch.nn.utils.rnn.pack_padded_sequence.
    """
    leading = _leading(at, input)
    count = _count(at, lengths)
    if len(leading) == 2:
        at.sizes.mark(leading[0 if batch_first else 1], "batch", at.line)
        at.sizes.mark(leading[1 if batch_first else 0], "time", at.line)
    if count is not None and len(leading) > (not batch_first):
        position = 0 if batch_first else 1
        _same_batch(at, input, leading[position], count, position)
    packed = at.tensor(at.shape(input), input)
    packed.source = PACKED_BATCH_FIRST if batch_first else PACKED
    return packed


def _leading(at: OpContext, input: Tensor) -> tuple[Axis, ...]:
    """The first two axes, or fewer where they cannot be told from the last."""
    return first_axes(at, input, 2) or at.prefix(input, 1)


def _count(at: OpContext, lengths: Value) -> Dim | None:
    match lengths:
        case Seq(rest=None):
            return Dim.of(len(lengths.items))
        case Tensor() if at.shape(lengths).run is None or len(at.shape(lengths).axes) < 2:
            (axis,) = at.need_rank(lengths, 1)
            return axis.dim
        case _:
            return None


def _same_batch(at: OpContext, input: Tensor, batch: Axis, count: Dim, position: int) -> None:
    sameness = at.meet(count, batch)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            "mismatched-batch",
            ["lengths", input],
            axes=(0, position),
            dims=(count, batch.dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
        )


@op("torch.nn.utils.rnn.pad_packed_sequence")
def pad_packed_sequence(
    at: OpContext,
    sequence: Value,
    batch_first: bool = False,
    padding_value: Value | None = None,
    total_length: Value | None = None,
) -> Value:
    """Pad a packed sequence again.

    sequence packed from (T, B, *) -> (T, B, *), or (B, T, *) with batch_first; lengths (B,)
    T is total_length where that is given, and otherwise taken to be the length that was packed: torch's is that of
    the longest sequence, which is the same wherever nothing was padded beyond need.
    Source: PyTorch documentation, torch.nn.utils.rnn.pad_packed_sequence.
    """
    if not isinstance(sequence, Tensor) or not is_packed(sequence):
        at.lost("packed elsewhere")
    items = at.shape(sequence).items
    was_first = sequence.source == PACKED_BATCH_FIRST
    if was_first != batch_first or isinstance(total_length, Int):
        first, second = at.prefix(sequence, 2)
        batch, time = (first, second) if was_first else (second, first)
        if isinstance(total_length, Int):
            time = at.axis(total_length.dim)
        items = (*((batch, time) if batch_first else (time, batch)), *at.shape(sequence).items[2:])
    padded = at.tensor(items, sequence)
    found = items[0 if batch_first else 1] if len(items) > 1 else None
    batch_axis = found if isinstance(found, Axis) else at.fresh()
    return Seq((padded, at.tensor((batch_axis,), sequence, kind="int")))


@op("torch.nn.utils.rnn.pack_sequence")
def pack_sequence(at: OpContext, sequences: Value, enforce_sorted: Value | None = None) -> Value:
    """Pack a list of sequences.

    sequences: B tensors (L_i, *) -> a packed sequence
    Conflict: sequences that differ in another axis than the first.
    Source: PyTorch documentation, torch.nn.utils.rnn.pack_sequence.
    """
    time, batch, rest, like = _listed(at, sequences)
    packed = at.tensor((time, batch, *rest), like)
    packed.source = PACKED
    return packed


@op("torch.nn.utils.rnn.pad_sequence")
def pad_sequence(
    at: OpContext,
    sequences: Value,
    batch_first: bool = False,
    padding_value: Value | None = None,
    padding_side: Value | None = None,
) -> Value:
    """Pad a list of sequences to the length of the longest.

    sequences: B tensors (L_i, *) -> (T, B, *), or (B, T, *) with batch_first
    Conflict: sequences that differ in another axis than the first.
    Source: PyTorch documentation, torch.nn.utils.rnn.pad_sequence.
    """
    time, batch, rest, like = _listed(at, sequences)
    return at.tensor((batch, time, *rest) if batch_first else (time, batch, *rest), like)


def _listed(at: OpContext, sequences: Value) -> tuple[Axis, Axis, tuple[Axis | Run, ...], Tensor]:
    """The time and batch axes of a list of sequences, the other axes, and one of the sequences."""
    match sequences:
        case Tensor():
            batch, time = at.prefix(sequences, 2)
            return time, batch, at.shape(sequences).items[2:], sequences
        case Seq(items=(), rest=None):
            at.fail("mismatched-join", ["sequences"], why="empty")
        case Seq(rest=None):
            tensors = [as_tensor(v) for v in sequences.items]
            batch = at.axis(len(tensors))
        case Seq():
            tensors = [as_tensor(v) for v in (*sequences.items, sequences.rest) if v is not None]
            batch = at.fresh()
        case _:
            at.lost("not a list of sequences")
    rest = _common(at, tensors)
    return _longest(at, tensors), batch, rest, tensors[0]


def _longest(at: OpContext, tensors: Sequence[Tensor]) -> Axis:
    firsts = [at.prefix(t, 1)[0] for t in tensors]
    dims = [a.dim for a in firsts]
    if all(d == dims[0] for d in dims):
        return firsts[0]
    lengths = [d.const for d in dims if d.const is not None]
    return at.axis(max(lengths)) if len(lengths) == len(dims) else at.fresh()


def _common(at: OpContext, tensors: Sequence[Tensor]) -> tuple[Axis | Run, ...]:
    for tensor in tensors:
        at.prefix(tensor, 1)
    first = at.shape(tensors[0])
    for tensor in tensors[1:]:
        other = at.shape(tensor)
        if first.rank is None or other.rank is None:
            continue
        if other.rank != first.rank:
            at.fail("mismatched-join", [tensor, tensors[0]], why="rank", wanted=str(first.rank), got=str(other.rank))
        for i, (a, b) in enumerate(zip(first.axes[1:], other.axes[1:], strict=True), 1):
            sameness = at.meet(a, b)
            if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
                at.conflict(
                    "mismatched-join",
                    [tensor, tensors[0]],
                    axes=(i, i),
                    dims=(b.dim, a.dim),
                    sameness=sameness,
                    loud=sameness.kind is Kind.NEVER,
                    why="size",
                )
    return first.items[1:]
