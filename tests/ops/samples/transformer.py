"""Calls of the Transformer's modules."""

from __future__ import annotations

from dataclasses import replace

from tests.ops.drawing import Call, Draw, L, Sample, T
from tests.ops.samples.attention import Attended

__all__ = ["SAMPLES"]


def masks(draw: Draw, a: Attended, **named: tuple[int, ...]) -> dict[str, object]:
    """Masks by name: a pair of lengths for an attention mask, one length for a padding mask."""
    found: dict[str, object] = {}
    for name, lengths in named.items():
        if draw.number(0, 2) == 0:
            shape = a.padding(*lengths) if len(lengths) == 1 else a.mask(draw, *lengths)
            found[name] = T(draw.spoilt(shape) if draw.number(0, 3) == 0 else shape, "bool")
    return found


def encoder(draw: Draw) -> Call:
    a = Attended(draw)
    s = a.keys
    shape = a.shape(s, a.embed)
    if draw.number(0, 4) == 0:
        shape = draw.spoilt(shape)
    stack = draw.name == "torch.nn.TransformerEncoder"
    mask = {"mask" if stack else "src_mask": (s, s)}
    calls = masks(draw, a, **mask, src_key_padding_mask=(s,))
    if draw.number(0, 6) == 0:
        calls["is_causal"] = True
    return built(Call([T(shape)], calls), a, "torch.nn.TransformerEncoderLayer", stack)


def built(call: Call, a: Attended, kind: str, stack: bool) -> Call:
    init, options = (a.embed, a.heads, 4), {"batch_first": a.batch_first}
    if not stack:
        return replace(call, init=init, options=options)
    more = {"enable_nested_tensor": False} if kind.endswith("EncoderLayer") else {}
    return replace(call, init=(L(kind, init, options), 2), options=more)


def decoder(draw: Draw) -> Call:
    a = Attended(draw)
    t, s = a.queries, a.keys
    shapes = [a.shape(t, a.embed), a.shape(s, a.embed)]
    if draw.number(0, 4) == 0:
        i = draw.number(0, 1)
        shapes[i] = draw.spoilt(shapes[i])
    calls = masks(draw, a, tgt_mask=(t, t), memory_mask=(t, s), tgt_key_padding_mask=(t,), memory_key_padding_mask=(s,))
    if draw.number(0, 6) == 0:
        calls["tgt_is_causal"] = True
    stack = draw.name == "torch.nn.TransformerDecoder"
    return built(Call([T(s) for s in shapes], calls), a, "torch.nn.TransformerDecoderLayer", stack)


def transformer(draw: Draw) -> Call:
    a = Attended(draw)
    t, s = a.queries, a.keys
    shapes = [a.shape(s, a.embed), a.shape(t, a.embed)]
    if draw.number(0, 4) == 0:
        i = draw.number(0, 1)
        shapes[i] = draw.spoilt(shapes[i])
    calls = masks(
        draw,
        a,
        src_mask=(s, s),
        tgt_mask=(t, t),
        memory_mask=(t, s),
        src_key_padding_mask=(s,),
        tgt_key_padding_mask=(t,),
        memory_key_padding_mask=(s,),
    )
    return Call([T(s) for s in shapes], calls, (a.embed, a.heads, 1, 1, 4), {"batch_first": a.batch_first})


def causal(draw: Draw) -> Call:
    return Call([draw.size()])


SAMPLES: dict[str, Sample] = {
    "torch.nn.TransformerEncoderLayer": encoder,
    "torch.nn.TransformerEncoder": encoder,
    "torch.nn.TransformerDecoderLayer": decoder,
    "torch.nn.TransformerDecoder": decoder,
    "torch.nn.Transformer": transformer,
    "torch.nn.Transformer.generate_square_subsequent_mask": causal,
}
