"""A decoder that hides the future in training, and not where it generates word by word from all that it has written.

The last position may see all, but the ones before it are then made otherwise than in training: with several layers,
what the last one sees of them differs, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Bool, Int, Layer, NoneValue, Value
from shapedoc.rules.reading.flow import Graph, events_of, graph
from shapedoc.rules.reading.masks import Masks, masks

__all__ = ["UnmaskedStep", "unmasked_steps"]

# For each module, the argument that is the sequence, its causal mask, and the number of layers.
_DECODERS = {
    "TransformerDecoder.forward": ("tgt", "tgt_mask", "num_layers"),
    "Transformer.forward": ("tgt", "tgt_mask", "num_decoder_layers"),
}


@dataclass(frozen=True, slots=True, eq=False)
class UnmaskedStep:
    """The call that generates, the one that hides the future, and the argument that the first one lacks."""

    step: Event
    trained: Event
    argument: str


def unmasked_steps(trace: Trace) -> Iterator[UnmaskedStep]:
    """Every call of a decoder of several layers, in a loop that its sequence grows in, without the causal mask."""
    g, known = graph(trace), masks(trace)
    for kind, (sequence, mask, count) in _DECODERS.items():
        calls = [e for e in events_of(trace, (kind,)) if not e.span.path]
        trained: dict[object, Event] = {}
        for event in calls:
            if _hides_future(g, known, event.value(mask)):
                trained.setdefault(_built(event), event)
        for event in calls if trained else ():
            beside = trained.get(_built(event))
            if beside is not None and _is_bare(event, mask, count) and _grows(g, event, sequence):
                yield UnmaskedStep(event, beside, mask)


def _hides_future(g: Graph, known: Masks, value: Value | None) -> bool:
    """Whether a mask is causal, at least where none is given from outside."""
    meaning, made = known.of(value), g.producer(value)
    if meaning is not None or made is None or made.short != "phi":
        return meaning is not None and meaning.kind == "causal"
    found = [known.of(o.value) for o in made.operands]
    return any(m is not None and m.kind == "causal" for m in found)


def _built(event: Event) -> object:
    """Where the module was built."""
    layer = event.value("self")
    return layer.span if isinstance(layer, Layer) else None


def _is_bare(event: Event, mask: str, count: str) -> bool:
    """Whether a call of a module of several layers gives no mask, and says in no other way that it is causal."""
    layer, given = event.value("self"), event.value(mask)
    causal = event.value("tgt_is_causal")
    layers = layer.config.get(count) if isinstance(layer, Layer) else None
    if not isinstance(layers, Int) or _is_one(layers):
        return False
    unasked = causal is None or isinstance(causal, NoneValue) or (isinstance(causal, Bool) and causal.value is False)
    return (given is None or isinstance(given, NoneValue)) and unasked


def _is_one(layers: Int) -> bool:
    """Whether there is one layer by the author's word; the default of a parameter is there to be changed."""
    return layers.dim.const == 1 and (not layers.name or layers.place is not None)


def _grows(g: Graph, event: Event, sequence: str) -> bool:
    """Whether what a decoder is given was joined with what it gave, in the loop around it."""
    made = g.producer(event.value(sequence))
    around = {loop for loop, _ in event.loops}
    return made is not None and any(
        e.short in ("cat", "concat", "concatenate") and around & {loop for loop, _ in e.loops}
        for e in g.back(made, lambda _: True)
    )
