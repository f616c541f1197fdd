"""Calls of attention."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES", "Attended"]


class Attended:
    """Sizes of one multi-head attention, and tensors that fit it."""

    def __init__(self, draw: Draw, *, batch_first: bool | None = None) -> None:
        self.heads = draw.named(draw.sampled([1, 2, 3]))
        self.embed = self.heads * draw.size()
        self.batch, self.queries, self.keys = draw.sizes(3)
        self.batch_first = draw.maybe() if batch_first is None else batch_first
        self.batched = draw.number(0, 4) > 0

    def shape(self, length: int, width: int) -> list[int]:
        """The shape of a sequence of this length."""
        if not self.batched:
            return [length, width]
        return [self.batch, length, width] if self.batch_first else [length, self.batch, width]

    def mask(self, draw: Draw, rows: int, columns: int) -> list[int]:
        """The shape of an attention mask."""
        if draw.maybe():
            return [rows, columns]
        return [self.heads * self.batch if self.batched else self.heads, rows, columns]

    def padding(self, length: int) -> list[int]:
        """The shape of a padding mask."""
        return [self.batch, length] if self.batched else [length]


def masks(draw: Draw, a: Attended) -> dict[str, object]:
    found: dict[str, object] = {}
    if draw.maybe():
        shape = a.mask(draw, a.queries, a.keys)
        found["attn_mask"] = T(draw.spoilt(shape) if draw.wrong() else shape, "bool")
    if draw.maybe():
        shape = a.padding(a.keys)
        found["key_padding_mask"] = T(draw.spoilt(shape) if draw.wrong() else shape, "bool")
    return found


def multi_head(draw: Draw) -> Call:
    a = Attended(draw)
    options: dict[str, object] = {"batch_first": a.batch_first}
    kdim, vdim = a.embed, a.embed
    if draw.number(0, 3) == 0:
        kdim, vdim = draw.sizes(2)
        options |= {"kdim": kdim, "vdim": vdim}
    if draw.number(0, 3) == 0:
        options |= {"add_bias_kv": draw.maybe(), "add_zero_attn": draw.maybe()}
    shapes = [a.shape(a.queries, a.embed), a.shape(a.keys, kdim), a.shape(a.keys, vdim)]
    if draw.number(0, 4) == 0:
        i = draw.number(0, 2)
        shapes[i] = draw.spoilt(shapes[i])
    calls: dict[str, object] = masks(draw, a) | draw.sampled(
        [{}, {"need_weights": False}, {"average_attn_weights": False}, {"is_causal": True}]
    )
    heads = a.heads
    if draw.number(0, 9) == 0:
        heads = draw.size()
    return Call([T(s) for s in shapes], calls, init=(a.embed, heads), options=options)


def forward(draw: Draw) -> Call:
    a = Attended(draw, batch_first=False)
    e = a.embed
    shapes = [a.shape(a.queries, e), a.shape(a.keys, e), a.shape(a.keys, e)]
    if draw.number(0, 4) == 0:
        i = draw.number(0, 2)
        shapes[i] = draw.spoilt(shapes[i])
    weights = (T([3 * e, e]), T([3 * e]), None, None, draw.maybe(), 0.0, T([e, e]), T([e]))
    return Call((*(T(s) for s in shapes), e, a.heads, *weights), masks(draw, a))


def scaled_dot_product(draw: Draw) -> Call:
    length, s, e, ev = draw.sizes(4)
    batch = draw.shape(0, 2)
    shapes = [[*batch, length, e], [*draw.broadcastable(batch), s, e], [*draw.broadcastable(batch), s, ev]]
    options: dict[str, object] = {}
    if draw.number(0, 4) == 0:
        heads, groups = draw.sampled([(4, 2), (6, 3), (3, 2), (2, 2)])
        batch = [*draw.shape(0, 1), heads]
        kept = [*batch[:-1], groups]
        shapes = [[*batch, length, e], [*kept, s, e], [*kept, s, ev]]
        options = {"enable_gqa": True}
    if draw.number(0, 3) == 0:
        i = draw.number(0, 2)
        shapes[i] = draw.spoilt(shapes[i])
    elif draw.maybe():
        mask = draw.sampled([[length, s], [*batch, length, s], [1, s]])
        options["attn_mask"] = T([length, draw.other(s)] if draw.wrong() and s > 1 else mask, "bool")
    if draw.number(0, 3) == 0:
        options["is_causal"] = True
    return Call([T(s) for s in shapes], options)


SAMPLES: dict[str, Sample] = {
    "torch.nn.MultiheadAttention": multi_head,
    "torch.nn.functional.multi_head_attention_forward": forward,
    "torch.nn.functional.scaled_dot_product_attention": scaled_dot_product,
}
