"""Attention: scaled dot-product and multi-head."""

from __future__ import annotations

from collections.abc import Mapping

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind, Sizes
from shapedoc.core.value import Layer, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.broadcast import broadcast_shapes
from shapedoc.ops.meeting.contracted import contract
from shapedoc.ops.meeting.multihead import Heads, Masks, Weights, attend
from shapedoc.ops.meeting.settings import flag, size, size_or_none, weight
from shapedoc.ops.registry import layer, op

__all__ = ["heads_of", "multi_head_attention", "scaled_dot_product_attention"]

_MULTI_HEAD = (
    "embed_dim: Dim, num_heads: Dim, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,"
    "add_zero_attn: bool = False, kdim: Dim = None, vdim: Dim = None, batch_first: bool = False,"
    "device: Value = None, dtype: Value = None"
)


def _parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    at = OpContext(sizes, {})
    heads = heads_of(at, layer)
    embed = heads.embed
    found: dict[str, Tensor] = {}
    if heads.key is None and heads.value is None:
        found["in_proj_weight"] = weight(3 * embed, embed)
    else:
        found["q_proj_weight"] = weight(embed, embed)
        found["k_proj_weight"] = weight(embed, embed if heads.key is None else heads.key)
        found["v_proj_weight"] = weight(embed, embed if heads.value is None else heads.value)
    if flag(layer, "bias") is not False:
        found["in_proj_bias"] = weight(3 * embed)
    if flag(layer, "add_bias_kv"):
        found["bias_k"], found["bias_v"] = weight(1, 1, embed), weight(1, 1, embed)
    return found


def heads_of(at: OpContext, layer: Layer) -> Heads:
    """What a MultiheadAttention was built as."""
    added = [flag(layer, "add_bias_kv"), flag(layer, "add_zero_attn")]
    return Heads(
        size(at, layer, "embed_dim"),
        size(at, layer, "num_heads"),
        flag(layer, "batch_first"),
        size_or_none(at, layer, "kdim"),
        size_or_none(at, layer, "vdim"),
        None if None in added else sum(bool(a) for a in added),
    )


@layer("torch.nn.MultiheadAttention", _MULTI_HEAD, _parameters)
def multi_head_attention(
    at: OpContext,
    layer: Layer,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool | None = True,
    attn_mask: Tensor | None = None,
    average_attn_weights: bool | None = True,
    is_causal: bool | None = False,
) -> Value:
    """Attend with several heads.

    query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim), N first with batch_first, or without N;
    key_padding_mask (N, S) or (S,), attn_mask (L, S) or (N*num_heads, L, S)
    -> output as query, weights (N, L, S), or (N, num_heads, L, S) unless averaged
    Conflict: another rank; last axes that are not embed_dim, kdim, vdim; N or S differs; a mask of another shape;
    is_causal without attn_mask.
    Source: PyTorch documentation, torch.nn.MultiheadAttention.
    """
    masks = Masks(attn_mask, key_padding_mask, is_causal)
    return attend(at, heads_of(at, layer), query, key, value, masks, Weights(need_weights, average_attn_weights))


@op("torch.nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(
    at: OpContext,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: Dim,
    num_heads: Dim,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool | None,
    dropout_p: Value,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: Value | None = None,
    key_padding_mask: Tensor | None = None,
    need_weights: bool | None = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool | None = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Value | None = None,
    static_v: Value | None = None,
    average_attn_weights: bool | None = True,
    is_causal: bool | None = False,
) -> Value:
    """Attend with several heads, time first, with weights that are passed.

    query (L, N, E), key (S, N, kdim), value (S, N, vdim), or without N -> output (L, N, E), weights (N, L, S)
    Conflict: as torch.nn.MultiheadAttention.
    Source: PyTorch documentation, torch.nn.functional, multi_head_attention_forward.
    """
    if static_k is not None or static_v is not None or use_separate_proj_weight is None:
        at.lost("static keys or values")
    kdim = vdim = None
    if use_separate_proj_weight and k_proj_weight is not None and v_proj_weight is not None:
        kdim = at.need_rank(k_proj_weight, 2)[1].dim
        vdim = at.need_rank(v_proj_weight, 2)[1].dim
    extra = None if add_zero_attn is None else (bias_k is not None) + add_zero_attn
    heads = Heads(embed_dim_to_check, num_heads, False, kdim, vdim, extra)
    masks = Masks(attn_mask, key_padding_mask, is_causal)
    return attend(at, heads, query, key, value, masks, Weights(need_weights, average_attn_weights))


@op("torch.nn.functional.scaled_dot_product_attention")
def scaled_dot_product_attention(
    at: OpContext,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: Value | None = None,
    is_causal: bool | None = False,
    scale: Value | None = None,
    enable_gqa: bool | None = False,
) -> Value:
    """Attend: softmax of the scaled products of query and key, times value.

    query (*b, L, E), key (*b, S, E), value (*b, S, Ev), attn_mask that broadcasts to (*b, L, S) -> (*b, L, Ev)
    with enable_gqa, the heads (the axis before L) of key and value divide those of query
    Conflict: fewer than two axes; E or S differs; *b does not broadcast; a mask that does not broadcast to the
    scores; a mask together with is_causal.
    Source: PyTorch documentation, torch.nn.functional.scaled_dot_product_attention.
    """
    length, e = at.suffix(query, 2)
    s, e2 = at.suffix(key, 2)
    s2, ev = at.suffix(value, 2)
    contract(at, query, key, (_last(at, query, 1), _last(at, key, 1)), (e, e2))
    contract(at, key, value, (_last(at, key, 2), _last(at, value, 2)), (s, s2))
    batch = _batch(at, (query, key, value), enable_gqa)
    if attn_mask is not None:
        if is_causal:
            at.conflict("mismatched-mask", [attn_mask], why="causal")
        _mask(at, attn_mask, Shape((*batch.items, length, s)))
    return at.tensor((*batch.items, length, ev), query)


def _last(at: OpContext, tensor: Tensor, back: int) -> int:
    return len(at.shape(tensor).items) - back


def _batch(at: OpContext, tensors: tuple[Tensor, Tensor, Tensor], grouped: bool | None) -> Shape:
    """The axes before the last two, broadcast; with grouped queries, those before the heads, and query's heads."""
    query, *others = tensors
    back = 3 if grouped else 2
    if grouped is None:
        return Shape(at.shape(query).items[:-2])
    if grouped:
        (heads, _, _), *pairs = (at.suffix(t, 3) for t in tensors)
        for tensor, (theirs, _, _) in zip(others, pairs, strict=True):
            _divides(at, query, tensor, heads, theirs)
    shape = Shape(at.shape(query).items[:-back])
    for other in others:
        theirs_shape = Shape(at.shape(other).items[:-back])
        shape = broadcast_shapes(at, shape, theirs_shape, query, other, problem="mismatched-batch")
    return Shape((*shape.items, heads)) if grouped else shape


def _divides(at: OpContext, query: Tensor, other: Tensor, heads: Axis, theirs: Axis) -> None:
    ours, count = heads.dim.value, theirs.dim.value
    if ours is not None and count and ours % count:
        axes = (_last(at, query, 3), _last(at, other, 3))
        at.conflict("mismatched-batch", [other, query], axes=axes[::-1], dims=(theirs.dim, heads.dim), why="groups")


def _mask(at: OpContext, mask: Tensor, scores: Shape) -> None:
    """Require a mask to broadcast to the scores without widening them."""
    shape = at.shape(mask)
    wanted = at.sizes.show_shape(scores)
    if shape.rank is not None and scores.rank is not None and shape.rank > scores.rank:
        at.conflict("mismatched-mask", [mask], why="rank", wanted=wanted, got=at.sizes.show_shape(shape))
        return
    ours, theirs = scores.suffix, shape.suffix
    for i in range(-min(len(ours), len(theirs)), 0):
        score, axis = ours[i], theirs[i]
        if axis.dim.const == 1:
            continue
        sameness = at.sizes.compare(axis.dim, score.dim)
        if sameness.kind in (Kind.NEVER, Kind.ONLY_IF):
            at.conflict(
                "mismatched-mask",
                [mask],
                axes=(len(shape.items) + i if shape.rank is not None else i,),
                dims=(axis.dim, score.dim),
                sameness=sameness,
                loud=sameness.kind is Kind.NEVER,
                why="size",
                wanted=wanted,
            )
