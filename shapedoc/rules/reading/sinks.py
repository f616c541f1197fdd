"""Where masks end: the fill, the sum, the product or the module that a mask is given to, and what that takes it for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Seq, Tensor
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.fills import is_huge, number_of
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.masks import Sign
from shapedoc.rules.reading.scores import leads_to_softmax

__all__ = ["Sink", "mask_sinks"]

_ATTENTION = names("MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder")
_MODULES = _ATTENTION | names("TransformerDecoder Transformer")
_MASKS = names(
    "attn_mask key_padding_mask src_mask tgt_mask memory_mask mask src_key_padding_mask tgt_key_padding_mask "
    "memory_key_padding_mask"
)
_WEIGHTS = SHAPING | names("dropout Dropout.forward")
_SOFTMAX = names("softmax Softmax.forward")


@dataclass(frozen=True, slots=True, eq=False)
class Sink:
    """A mask that is given away.

    event: what takes it. mask: the operand. expects: what its true elements are taken for. how: "fill", "where",
    "add", "weights" (multiplied with weights), "module" or "fused" (`scaled_dot_product_attention`). scores: what is
    masked, where it is an operand.
    """

    event: Event
    mask: Operand
    expects: Sign
    how: str
    scores: Operand | None = None


@lru_cache(maxsize=2)
def mask_sinks(trace: Trace) -> tuple[Sink, ...]:
    """Every place of a trace where a mask is used up."""
    g = graph(trace)
    return tuple(sink for event in trace.events for sink in _sinks(trace, g, event))


def _sinks(trace: Trace, g: Graph, event: Event) -> Iterator[Sink]:
    match event.short:
        case "masked_fill":
            if is_lowest(g, event.operand("value")):
                yield from _sink(event, "mask", "drop", "fill", "input")
        case "where":
            yield from _where(g, event)
        case "setitem":
            if is_lowest(g, event.operand("value")):
                yield from _assigned(g, event)
        case "mul":
            yield from _weighted(g, event)
        case "add":
            yield from _added(trace, event)
        case "scaled_dot_product_attention":
            yield from _sink(event, "attn_mask", "keep", "fused")
        case short if short.removesuffix(".forward") in _MODULES or short == "multi_head_attention_forward":
            for operand in event.operands:
                if operand.name in _MASKS and isinstance(operand.value, Tensor):
                    yield Sink(event, operand, "drop", "module")


def _sink(event: Event, mask: str, expects: Sign, how: str, scores: str = "") -> Iterator[Sink]:
    operand = event.operand(mask)
    if operand is not None and isinstance(operand.value, Tensor):
        yield Sink(event, operand, expects, how, event.operand(scores) if scores else None)


def _assigned(g: Graph, event: Event) -> Iterator[Sink]:
    """``scores[mask] = -inf``, also by the places of a triangle."""
    index = event.operand("index")
    if index is None:
        return
    if isinstance(index.value, Tensor):
        yield Sink(event, index, "drop", "fill", event.operand("input"))
        return
    for item in index.value.items if isinstance(index.value, Seq) else ():
        made = g.producer(item)
        if made is not None and g.origin(made, SHAPING).short in ("triu_indices", "tril_indices"):
            mask = Operand("index", item, index.text, index.span, item.shape if isinstance(item, Tensor) else None)
            yield Sink(event, mask, "drop", "fill", event.operand("input"))
            return


def _where(g: Graph, event: Event) -> Iterator[Sink]:
    there, elsewhere = event.operand("input"), event.operand("other")
    if is_lowest(g, elsewhere) and not is_lowest(g, there) and number_of(there.value if there else None) is None:
        yield from _sink(event, "condition", "keep", "where", "input")
    elif is_lowest(g, there) and number_of(elsewhere.value if elsewhere else None) is None:
        yield from _sink(event, "condition", "drop", "where", "other")


def is_lowest(g: Graph, operand: Operand | None) -> bool:
    """Whether an operand is a hugely negative number, also one that was made a tensor."""
    if operand is None:
        return False
    number = number_of(operand.value)
    if number is None:
        made = g.producer(operand.value)
        while made is not None and made.short in ("to", "type_as", "float", "half"):
            made = g.main_source(made)
        if made is not None and made.short in ("tensor", "full_like", "full", "array", "full", "as_tensor"):
            number = number_of(made.value("data") or made.value("fill_value") or made.value("object"))
    return number is not None and is_huge(number) and number < 0


def _added(trace: Trace, event: Event) -> Iterator[Sink]:
    """A mask that is added to what a softmax normalises."""
    operands = tensor_operands(event)
    if len(operands) != 2 or not leads_to_softmax(trace, event):
        return
    for mask, scores in (operands, operands[::-1]):
        yield Sink(event, mask, "drop", "add", scores)


def _weighted(g: Graph, event: Event) -> Iterator[Sink]:
    """A mask that attention weights are multiplied with."""
    operands = tensor_operands(event)
    if len(operands) != 2:
        return
    for mask, weights in (operands, operands[::-1]):
        made = g.producer(weights.value)
        if made is not None and g.origin(made, _WEIGHTS).short in _SOFTMAX:
            yield Sink(event, mask, "keep", "weights", weights)
