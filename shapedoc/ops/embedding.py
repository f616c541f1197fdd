"""Embeddings: from indices to vectors."""

from __future__ import annotations

from collections.abc import Mapping

from shapedoc.core.dim import Dim
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.value import Int, Layer, Tensor, Value
from shapedoc.ops.calling.bind import Arguments, build_layer
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.settings import size, weight
from shapedoc.ops.modules import mark_rows
from shapedoc.ops.registry import find_layer, layer, op

__all__ = ["embedding"]

_TAIL = "device: Value = None, dtype: Value = None"


def _parameters(layer: Layer, sizes: Sizes) -> Mapping[str, Tensor]:
    at = OpContext(sizes, {})
    return {"weight": weight(size(at, layer, "num_embeddings"), size(at, layer, "embedding_dim"))}


@layer(
    "torch.nn.Embedding",
    "num_embeddings: Dim, embedding_dim: Dim, padding_idx: Value = None, max_norm: Value = None,"
    "norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Value = None,"
    f"_freeze: bool = False, {_TAIL}",
    _parameters,
)
def embedding_module(at: OpContext, layer: Layer, input: Tensor) -> Value:
    """Look up a vector for every index.

    input (*) -> (*, embedding_dim)
    Source: PyTorch documentation, torch.nn.Embedding.
    """
    return _looked_up(at, input, size(at, layer, "embedding_dim"))


@op("torch.nn.Embedding.from_pretrained")
def from_pretrained(at: OpContext, embeddings: Tensor, *options: Value, **settings: Value) -> Value:
    """Build an Embedding of a matrix of vectors.

    embeddings (V, d) -> a layer with num_embeddings V and embedding_dim d
    Conflict: no matrix.
    Source: PyTorch documentation, torch.nn.Embedding.from_pretrained.
    """
    rows, features = at.need_rank(embeddings, 2)
    kind = "torch.nn.Embedding"
    entry = find_layer(kind)
    assert entry is not None
    config = build_layer(entry, Arguments([Int(rows.dim), Int(features.dim)], {}))
    return Layer(kind, config, Span(at.line, 0, at.line, 0))


@op("torch.nn.functional.embedding")
def embedding(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    padding_idx: Value | None = None,
    max_norm: Value | None = None,
    norm_type: Value | None = None,
    scale_grad_by_freq: Value | None = None,
    sparse: Value | None = None,
) -> Value:
    """Look up a row of a matrix for every index.

    input (*), weight (V, d) -> (*, d)
    Conflict: weight is no matrix.
    Source: PyTorch documentation, torch.nn.functional.embedding.
    """
    _, features = at.need_rank(weight, 2)
    return _looked_up(at, input, features.dim)


@op("torch.embedding")
def embedding_of_weight(at: OpContext, weight: Tensor, indices: Tensor, *options: Value, **settings: Value) -> Value:
    """Look up a row of a matrix for every index; the matrix comes first.

    weight (V, d), indices (*) -> (*, d)
    Conflict: weight has no axes.
    Source: PyTorch source, torch.embedding.
    """
    _, features = at.need_rank(weight, 2)
    return _looked_up(at, indices, features.dim)


def _looked_up(at: OpContext, input: Tensor, features: Dim) -> Tensor:
    axis = at.axis(features)
    at.sizes.mark(axis, "feature", at.line)
    rows = at.shape(input).items
    mark_rows(at, rows)
    return at.tensor((*rows, axis), input, kind="float")


@layer(
    "torch.nn.EmbeddingBag",
    "num_embeddings: Dim, embedding_dim: Dim, max_norm: Value = None, norm_type: float = 2.0,"
    "scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False, _weight: Value = None,"
    f"include_last_offset: bool = False, padding_idx: Value = None, {_TAIL}",
    _parameters,
)
def embedding_bag_module(
    at: OpContext,
    layer: Layer,
    input: Tensor,
    offsets: Tensor | None = None,
    per_sample_weights: Tensor | None = None,
) -> Value:
    """Look up a vector for every index of a bag, and reduce over the bag.

    input (B, N) -> (B, embedding_dim); input (N,) with offsets (B,) -> (B, embedding_dim)
    Conflict: another rank; offsets with a matrix, or none with a vector.
    Source: PyTorch documentation, torch.nn.EmbeddingBag.
    """
    last = layer.config["include_last_offset"]
    return _bagged(at, input, size(at, layer, "embedding_dim"), offsets, getattr(last, "value", None))


@op("torch.nn.functional.embedding_bag")
def embedding_bag(
    at: OpContext,
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: Value | None = None,
    norm_type: Value | None = None,
    scale_grad_by_freq: Value | None = None,
    mode: Value | None = None,
    sparse: Value | None = None,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: Value | None = None,
) -> Value:
    """Look up a row for every index of a bag, and reduce over the bag.

    input (B, N), weight (V, d) -> (B, d); input (N,) with offsets (B,) -> (B, d)
    Conflict: another rank; offsets with a matrix, or none with a vector.
    Source: PyTorch documentation, torch.nn.functional.embedding_bag.
    """
    _, features = at.need_rank(weight, 2)
    return _bagged(at, input, features.dim, offsets, include_last_offset)


def _bagged(at: OpContext, input: Tensor, features: Dim, offsets: Tensor | None, last: bool | None) -> Tensor:
    axes = at.need_rank(input, 1, 2)
    out = at.axis(features)
    at.sizes.mark(out, "feature", at.line)
    if len(axes) == 2:
        if offsets is not None:
            at.fail("wrong-rank", [offsets, input], wanted="none with a matrix", got=str(at.shape(offsets)))
        return at.tensor((axes[0], out), input, kind="float")
    if offsets is None:
        at.fail("wrong-rank", [input], wanted="2", got="1")
    (bags,) = at.need_rank(offsets, 1)
    if last is None:
        at.lost("`include_last_offset` is not known")
    return at.tensor((at.axis(bags.dim - 1) if last else bags, out), input, kind="float")
