"""The Transformer's modules; their parts are residual, so that an input's axes come out again."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.trace import Problem
from shapedoc.core.value import Layer, NoneValue, Tensor, Value
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.meeting.multihead import Heads, Masks, Weights, attend
from shapedoc.ops.meeting.settings import flag, size
from shapedoc.ops.registry import layer, op

__all__ = ["generate_square_subsequent_mask"]

_LAYER = (
    "d_model: Dim, nhead: Dim, dim_feedforward: Dim = 2048, dropout: float = 0.1, activation: Value = 'relu',"
    "layer_norm_eps: float = 1e-05, batch_first: bool = False, norm_first: bool = False, bias: bool = True,"
    "device: Value = None, dtype: Value = None"
)
_TRANSFORMER = (
    "d_model: Dim = 512, nhead: Dim = 8, num_encoder_layers: Dim = 6, num_decoder_layers: Dim = 6,"
    "dim_feedforward: Dim = 2048, dropout: float = 0.1, activation: Value = 'relu', custom_encoder: Value = None,"
    "custom_decoder: Value = None, layer_norm_eps: float = 1e-05, batch_first: bool = False,"
    "norm_first: bool = False, bias: bool = True, device: Value = None, dtype: Value = None"
)


def _heads(at: OpContext, layer: Layer) -> Heads:
    return Heads(size(at, layer, "d_model"), size(at, layer, "nhead"), flag(layer, "batch_first"))


def _inner(at: OpContext, layer: Layer, name: str) -> Heads:
    """What the layer that a stack repeats was built as; lost where it is not one of torch's."""
    inner = layer.config[name]
    if not isinstance(inner, Layer) or "nhead" not in inner.config:
        at.lost(f"`{name}` is not one of torch's layers")
    return _heads(at, inner)


def _attended(at: OpContext, heads: Heads, query: Tensor, memory: Tensor, masks: Masks) -> None:
    """Check one attention; what it gives is added to the query, whose axes it keeps."""
    attend(at, heads, query, memory, memory, masks, Weights(need=False))


def _result(at: OpContext, input: Tensor, d_model: Dim) -> Tensor:
    """The input's axes; a fault that several parts of the module met is reported once."""
    found: list[Problem] = []
    for problem in at.problems:
        if problem not in found:
            found.append(problem)
    at.problems[:] = found
    items = at.shape(input).items
    (last,) = at.suffix(input, 1)
    return at.tensor((*items[:-1], last.sized(d_model)), input, kind="float")


@layer("torch.nn.TransformerEncoderLayer", _LAYER)
def transformer_encoder_layer(
    at: OpContext,
    layer: Layer,
    src: Tensor,
    src_mask: Tensor | None = None,
    src_key_padding_mask: Tensor | None = None,
    is_causal: bool | None = False,
) -> Value:
    """Self-attention and a feed-forward map.

    src (S, N, d_model), (N, S, d_model) with batch_first, or (S, d_model); src_mask (S, S) or (N*nhead, S, S);
    src_key_padding_mask (N, S) or (S,) -> as src
    Conflict: another rank; the last axis is not d_model; a mask of another shape; is_causal without a mask.
    Source: PyTorch documentation, torch.nn.TransformerEncoderLayer.
    """
    heads = _heads(at, layer)
    masks = Masks(src_mask, src_key_padding_mask, is_causal, ("src_mask", "src_key_padding_mask"))
    _attended(at, heads, src, src, masks)
    return _result(at, src, heads.embed)


@layer(
    "torch.nn.TransformerEncoder",
    "encoder_layer: Value, num_layers: Dim, norm: Value = None, enable_nested_tensor: bool = True,"
    "mask_check: bool = True",
)
def transformer_encoder(
    at: OpContext,
    layer: Layer,
    src: Tensor,
    mask: Tensor | None = None,
    src_key_padding_mask: Tensor | None = None,
    is_causal: Value | None = None,
) -> Value:
    """A stack of encoder layers.

    src, mask and src_key_padding_mask as one layer takes them -> as src
    Conflict: as torch.nn.TransformerEncoderLayer.
    Source: PyTorch documentation, torch.nn.TransformerEncoder.
    """
    heads = _inner(at, layer, "encoder_layer")
    masks = Masks(mask, src_key_padding_mask, _hint(is_causal), ("mask", "src_key_padding_mask"))
    _attended(at, heads, src, src, masks)
    return _result(at, src, heads.embed)


def _hint(value: Value | None) -> bool | None:
    """A stack's is_causal: None lets torch look at the mask itself."""
    if value is None or isinstance(value, NoneValue):
        return False
    return getattr(value, "value", None)


@layer("torch.nn.TransformerDecoderLayer", _LAYER)
def transformer_decoder_layer(
    at: OpContext,
    layer: Layer,
    tgt: Tensor,
    memory: Tensor,
    tgt_mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    tgt_key_padding_mask: Tensor | None = None,
    memory_key_padding_mask: Tensor | None = None,
    tgt_is_causal: bool | None = False,
    memory_is_causal: bool | None = False,
) -> Value:
    """Self-attention, attention to the memory, and a feed-forward map.

    tgt (T, N, d_model), memory (S, N, d_model), N first with batch_first, or without N; tgt_mask (T, T),
    memory_mask (T, S), tgt_key_padding_mask (N, T), memory_key_padding_mask (N, S) -> as tgt
    Conflict: another rank; a last axis that is not d_model; N differs; a mask of another shape.
    Source: PyTorch documentation, torch.nn.TransformerDecoderLayer.
    """
    heads = _heads(at, layer)
    own = Masks(tgt_mask, tgt_key_padding_mask, tgt_is_causal, ("tgt_mask", "tgt_key_padding_mask"))
    cross = Masks(memory_mask, memory_key_padding_mask, memory_is_causal, ("memory_mask", "memory_key_padding_mask"))
    return _decoded(at, heads, (tgt, memory), own, cross)


def _decoded(at: OpContext, heads: Heads, inputs: tuple[Tensor, Tensor], own: Masks, cross: Masks) -> Tensor:
    tgt, memory = inputs
    _attended(at, heads, tgt, tgt, own)
    _attended(at, heads, tgt, memory, cross)
    return _result(at, tgt, heads.embed)


@layer("torch.nn.TransformerDecoder", "decoder_layer: Value, num_layers: Dim, norm: Value = None")
def transformer_decoder(
    at: OpContext,
    layer: Layer,
    tgt: Tensor,
    memory: Tensor,
    tgt_mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    tgt_key_padding_mask: Tensor | None = None,
    memory_key_padding_mask: Tensor | None = None,
    tgt_is_causal: Value | None = None,
    memory_is_causal: bool | None = False,
) -> Value:
    """A stack of decoder layers.

    The inputs and masks as one layer takes them -> as tgt
    Conflict: as torch.nn.TransformerDecoderLayer.
    Source: PyTorch documentation, torch.nn.TransformerDecoder.
    """
    heads = _inner(at, layer, "decoder_layer")
    own = Masks(tgt_mask, tgt_key_padding_mask, _hint(tgt_is_causal), ("tgt_mask", "tgt_key_padding_mask"))
    cross = Masks(memory_mask, memory_key_padding_mask, memory_is_causal, ("memory_mask", "memory_key_padding_mask"))
    return _decoded(at, heads, (tgt, memory), own, cross)


@layer("torch.nn.Transformer", _TRANSFORMER)
def transformer(
    at: OpContext,
    layer: Layer,
    src: Tensor,
    tgt: Tensor,
    src_mask: Tensor | None = None,
    tgt_mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    src_key_padding_mask: Tensor | None = None,
    tgt_key_padding_mask: Tensor | None = None,
    memory_key_padding_mask: Tensor | None = None,
    src_is_causal: Value | None = None,
    tgt_is_causal: Value | None = None,
    memory_is_causal: bool | None = False,
) -> Value:
    """Encoder and decoder.

    src (S, N, d_model), tgt (T, N, d_model), N first with batch_first, or without N; masks as encoder and decoder
    take them -> as tgt
    Conflict: another rank; a last axis that is not d_model; N differs; a mask of another shape.
    Source: PyTorch documentation, torch.nn.Transformer.
    """
    if not all(isinstance(layer.config[n], NoneValue) for n in ("custom_encoder", "custom_decoder")):
        at.lost("an encoder or a decoder of its own")
    heads = _heads(at, layer)
    encoder = Masks(src_mask, src_key_padding_mask, _hint(src_is_causal), ("src_mask", "src_key_padding_mask"))
    own = Masks(tgt_mask, tgt_key_padding_mask, _hint(tgt_is_causal), ("tgt_mask", "tgt_key_padding_mask"))
    cross = Masks(memory_mask, memory_key_padding_mask, memory_is_causal, ("memory_mask", "memory_key_padding_mask"))
    _attended(at, heads, src, src, encoder)
    return _decoded(at, heads, (tgt, src), own, cross)


@op("torch.nn.Transformer.generate_square_subsequent_mask")
def generate_square_subsequent_mask(
    at: OpContext, sz: Dim, device: Value | None = None, dtype: Value | None = None
) -> Value:
    """The additive causal mask.

    -> (sz, sz), -inf above the diagonal and 0 elsewhere
    Source: PyTorch documentation, torch.nn.Transformer.generate_square_subsequent_mask.
    """
    return at.tensor((at.axis(sz), at.axis(sz)), kind="float")
