"""Calls that pack and pad sequences."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Packed, Sample, T

__all__ = ["SAMPLES"]


def pack(draw: Draw) -> Call:
    batch, time = draw.sizes(2)
    batch_first = draw.maybe()
    shape = [*((batch, time) if batch_first else (time, batch)), *draw.shape(0, 2)]
    count = draw.other(batch) if draw.wrong() else batch
    lengths = [int(time)] * int(count)
    if draw.wrong():
        return Call((T(shape[:1]), lengths), {"batch_first": batch_first})
    return Call((T(shape), lengths), {"batch_first": batch_first})


def unpack(draw: Draw) -> Call:
    shape = [*draw.sizes(2), *draw.shape(0, 2)]
    options: dict[str, object] = {"batch_first": draw.maybe()}
    if draw.maybe():
        options["total_length"] = max(shape[:2]) + draw.number(0, 2)
    return Call([Packed(T(shape), draw.maybe())], options, symbolic="total_length" not in options)


def listed(draw: Draw) -> Call:
    rest = draw.shape(0, 2)
    length = draw.size()
    tensors = [T([length if draw.maybe() else draw.size(), *rest]) for _ in range(draw.number(1, 3))]
    if draw.wrong() and rest:
        i = draw.number(0, len(rest) - 1)
        tensors.append(T([length, *rest[:i], draw.other(rest[i]), *rest[i + 1 :]]))
    options: dict[str, object] = {"enforce_sorted": False}
    if draw.name.endswith("pad_sequence"):
        options = {"batch_first": draw.maybe()}
    return Call([tensors], options)


SAMPLES: dict[str, Sample] = {
    "torch.nn.utils.rnn.pack_padded_sequence": pack,
    "torch.nn.utils.rnn.pad_packed_sequence": unpack,
    "torch.nn.utils.rnn.pack_sequence": listed,
    "torch.nn.utils.rnn.pad_sequence": listed,
}
