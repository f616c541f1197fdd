"""What multi-head attention demands of its inputs and masks, for the module, the function and the Transformer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.value import NoneValue, Seq, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import expect

__all__ = ["Heads", "Masks", "Weights", "attend", "check_heads"]


@dataclass(frozen=True, slots=True)
class Heads:
    """What the attention was built as. batch_first: None where it is not known. extra: keys that it adds itself."""

    embed: Dim
    heads: Dim
    batch_first: bool | None
    key: Dim | None = None
    value: Dim | None = None
    extra: int | None = 0


@dataclass(frozen=True, slots=True)
class Masks:
    """The masks of one call; the names are those of the call's parameters. causal: whether is_causal is True."""

    attention: Tensor | None = None
    padding: Tensor | None = None
    causal: bool | None = False
    names: tuple[str, str] = ("attn_mask", "key_padding_mask")


@dataclass(frozen=True, slots=True)
class Weights:
    """Whether weights are asked for, and whether as a mean over the heads; None where that is not known."""

    need: bool | None = True
    average: bool | None = True


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where batch and time stand; batch is None for inputs without one."""

    batch: int | None
    time: int

    @staticmethod
    def of(rank: int, batch_first: bool | None) -> _Layout | None:
        if rank == 2:
            return _Layout(None, 0)
        if batch_first is None:
            return None
        return _Layout(0, 1) if batch_first else _Layout(1, 0)


def attend(
    at: OpContext, heads: Heads, query: Tensor, key: Tensor, value: Tensor, masks: Masks, weights: Weights
) -> Value:
    """The output and the weights of multi-head attention.

    query (L, N, E), key (S, N, kdim), value (S, N, vdim); N first with batch_first, or none
    -> (L, N, E), and the weights (N, L, S), (N, heads, L, S) unless averaged, or None unless needed.
    """
    check_heads(at, heads)
    rank = _learn_rank(at, (query, key, value), masks)
    _features(at, heads, query, key, value)
    out = at.axis(heads.embed)
    at.sizes.mark(out, "feature", at.line)
    output = at.tensor((*at.leading(query)[0], out), query, kind="float")
    layout = None if rank is None else _Layout.of(rank, heads.batch_first)
    if layout is None:
        return Seq((output, _unplaced(at, query, rank, weights)))
    shape = _placed(at, layout, query, key, value)
    _check_masks(at, heads, shape, masks, weights)
    return Seq((output, _weights(at, query, heads, shape, weights)))


def check_heads(at: OpContext, heads: Heads) -> None:
    """Require the heads to divide the embedding; reported as "impossible-view", as the split into heads is one."""
    embed, count = heads.embed.value, heads.heads.value
    if embed is not None and count and embed % count:
        at.conflict("impossible-view", ["embed_dim"], dims=(heads.embed, heads.heads), why="heads")


def _learn_rank(at: OpContext, inputs: Sequence[Tensor], masks: Masks) -> int | None:
    """The common rank of query, key and value, learnt from one for all; None where none is known."""
    for t in inputs:
        if at.shape(t).rank is not None or len(at.shape(t).axes) >= 3:
            at.need_rank(t, 2, 3)
    rank = next((r for r in (at.shape(t).rank for t in inputs) if r is not None), None)
    if rank is None and masks.padding is not None:
        padding = at.shape(masks.padding).rank
        rank = padding + 1 if padding in (1, 2) else None
    if rank is not None:
        for t in inputs:
            at.need_rank(t, rank)
    return rank


def _features(at: OpContext, heads: Heads, query: Tensor, key: Tensor, value: Tensor) -> None:
    """Require the last axes to be those that the attention was built for."""
    wanted = (
        (query, heads.embed, "embed_dim"),
        (key, heads.embed if heads.key is None else heads.key, "embed_dim" if heads.key is None else "kdim"),
        (value, heads.embed if heads.value is None else heads.value, "embed_dim" if heads.value is None else "vdim"),
    )
    seen: list[Tensor] = []
    for tensor, dim, setting in wanted:
        if tensor in seen:
            continue
        seen.append(tensor)
        if at.leading(tensor)[1] is not None:
            at.sizes.mark(expect(at, tensor, -1, dim, setting), "feature", at.line)


@dataclass(frozen=True, slots=True)
class _Placed:
    """The axes of one call: batch (None for inputs without one), queries and keys."""

    batch: Axis | None
    queries: Axis
    keys: Axis


def _placed(at: OpContext, layout: _Layout, query: Tensor, key: Tensor, value: Tensor) -> _Placed:
    q, k, v = at.shape(query).axes, at.shape(key).axes, at.shape(value).axes
    for axes in (q, k, v):
        at.sizes.mark(axes[layout.time], "time", at.line)
        if layout.batch is not None:
            at.sizes.mark(axes[layout.batch], "batch", at.line)
    batch = None
    if layout.batch is not None:
        batch = q[layout.batch]
        for tensor, axes in ((key, k), (value, v)):
            _agree(at, "mismatched-batch", (query, tensor), layout.batch, (batch, axes[layout.batch]))
        batch = batch.merged(k[layout.batch])
    _agree(at, "mismatched-product", (key, value), layout.time, (k[layout.time], v[layout.time]))
    return _Placed(batch, q[layout.time], k[layout.time])


def _agree(at: OpContext, problem: str, tensors: tuple[Tensor, Tensor], position: int, pair: tuple[Axis, Axis]) -> None:
    if tensors[0] is tensors[1]:
        return
    sameness = at.meet(*pair)
    if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
        at.conflict(
            problem,
            tensors,
            axes=(position, position),
            dims=(pair[0].dim, pair[1].dim),
            sameness=sameness,
            loud=sameness.kind is Kind.NEVER,
        )


def _check_masks(at: OpContext, heads: Heads, placed: _Placed, masks: Masks, weights: Weights) -> None:
    """Require the masks to have the shapes that multi-head attention takes."""
    attention, padding = masks.names
    if masks.causal and masks.attention is None:
        at.conflict("mismatched-mask", [attention], why="causal")
    # With the hint alone torch builds the mask itself and never looks at the one that was passed.
    hinted = masks.causal is not False and masks.padding is None and weights.need is not True
    if masks.attention is not None and not hinted and not _is_of_batch(at, masks.attention, placed):
        two = (placed.queries, placed.keys)
        many = at.axis(heads.heads if placed.batch is None else heads.heads * placed.batch.dim)
        rank = at.shape(masks.attention).rank
        _fits(at, masks.attention, attention, (many, *two) if rank == 3 else two, (2, 3))
    if masks.padding is not None:
        wanted = (placed.keys,) if placed.batch is None else (placed.batch, placed.keys)
        _fits(at, masks.padding, padding, wanted, (len(wanted),))


def _is_of_batch(at: OpContext, mask: Tensor, placed: _Placed) -> bool:
    """Whether a mask is as long as the axis that is taken for the batch: it says nothing of the other one's size."""
    if placed.batch is None or not placed.batch.dim.syms or placed.queries.dim.named:
        return False
    shape = at.shape(mask)
    return shape.rank == 2 and all(axis.dim == placed.batch.dim for axis in shape.axes)


def _fits(at: OpContext, mask: Tensor, name: str, wanted: tuple[Axis, ...], ranks: tuple[int, ...]) -> None:
    shape = at.shape(mask)
    if shape.rank is None:
        if len(ranks) > 1 or len(shape.axes) > ranks[0]:
            return
        at.need_rank(mask, *ranks)
        shape = at.shape(mask)
    if len(shape.axes) != len(wanted):
        ok = " or ".join(at.sizes.show_shape(Shape(w)) for w in [wanted])
        got = at.sizes.show_shape(shape)
        at.conflict("mismatched-mask", [mask], why="rank", wanted=ok, got=got, mask=name)
        return
    for i, (axis, other) in enumerate(zip(shape.axes, wanted, strict=True)):
        sameness = at.meet(axis, other)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            at.conflict(
                "mismatched-mask",
                [mask],
                axes=(i,),
                dims=(axis.dim, other.dim),
                sameness=sameness,
                loud=sameness.kind is Kind.NEVER,
                why="size",
                wanted=at.sizes.show_shape(Shape(wanted)),
                mask=name,
            )


def _weights(at: OpContext, like: Tensor, heads: Heads, placed: _Placed, weights: Weights) -> Value:
    if weights.need is False:
        return NoneValue()
    if weights.need is None or weights.average is None:
        return at.unknown(like, kind="float")
    keys = placed.keys
    if heads.extra != 0:
        keys = at.fresh() if heads.extra is None else at.axis(keys.dim + heads.extra)
    batch = () if placed.batch is None else (placed.batch,)
    head = () if weights.average else (at.axis(heads.heads),)
    return at.tensor((*batch, *head, placed.queries, keys), like, kind="float")


def _unplaced(at: OpContext, like: Tensor, rank: int | None, weights: Weights) -> Value:
    """The weights where it is not known which axis is the batch."""
    if weights.need is False:
        return NoneValue()
    if rank is None or weights.need is None or weights.average is None:
        return at.unknown(like, kind="float")
    return at.tensor([at.fresh() for _ in range(rank if weights.average else rank + 1)], like, kind="float")
