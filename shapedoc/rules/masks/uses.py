"""Masks that are parameters, taken for the opposite of what else is done with them, or said of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.masks.pairs import roots
from shapedoc.rules.masks.words import stated_sign
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.fills import truth_number
from shapedoc.rules.reading.flow import SHAPING, Graph, events_of, graph
from shapedoc.rules.reading.masks import Sign, masks
from shapedoc.rules.reading.sinks import Sink, mask_sinks
from shapedoc.rules.reading.wording import label, text_of

__all__ = ["Mistaken", "mistaken"]

_COUNTED = SHAPING | names("clamp clamp_min add maximum float to clip")


@dataclass(frozen=True, slots=True)
class Mistaken:
    """A place where a mask hides what is to be seen: the event, the mask, and what says so.

    text: the mask in the source. sign: what the elements of the parameter `root` that are true stand for. other: where
    it is taken for that; None where it is stated.
    """

    event: Event
    mask: Operand
    text: str
    root: str
    sign: Sign
    other: Span | None

    @property
    def span(self) -> Span:
        return self.mask.span or self.event.span

    @property
    def message(self) -> str:
        return f"{self._says}, and `{self.event.short}` does the opposite"

    @property
    def labels(self) -> tuple[Label, ...]:
        return label(self.other, f"{self.root} is taken for that here")

    @property
    def why(self) -> str:
        if self.other is None:
            return f"the text says that {self._says}"
        return "one mask cannot be true both of what is to be seen and of what is to be hidden"

    @property
    def help(self) -> str:
        return f"pass `~{self.text}`" if self.text.isidentifier() else "turn the mask round here"

    @property
    def _says(self) -> str:
        return f"what is true in {self.root} is to be {'seen' if self.sign == 'keep' else 'hidden'}"


def mistaken(trace: Trace) -> Iterator[Mistaken]:
    """Every such place, once."""
    seen: set[Span] = set()
    for found in (*_against_words(trace), *_against_means(trace), *_against_fills(trace)):
        if found.event.span not in seen and not found.event.span.path:
            seen.add(found.event.span)
            yield found


def _hiding(trace: Trace) -> Iterator[tuple[Sink, str, Sign]]:
    """The places where scores are hidden by a mask of unknown make: the parameter, and what its true ones are there."""
    g, known = graph(trace), masks(trace)
    for sink in mask_sinks(trace):
        if sink.how in ("fill", "where", "fused") and known.of(sink.mask.value) is None:
            for root, sign in roots(g, sink.mask.value, sink.expects):
                yield sink, root, sign


def _against_words(trace: Trace) -> Iterator[Mistaken]:
    """The docstring says which elements are seen, and the others are."""
    for sink, root, sign in _hiding(trace):
        for function in (sink.event.function, *(c.function for c in sink.event.calls)):
            said = stated_sign(trace, function, root) if function and root.isidentifier() else None
            if said is not None and said != sign:
                yield Mistaken(sink.event, sink.mask, text_of(trace, sink.mask), root, said, None)


def _against_means(trace: Trace) -> Iterator[Mistaken]:
    """``(x * mask).sum(1) / mask.sum(1)`` averages what the mask keeps; the same function hides that from a softmax."""
    g = graph(trace)
    kept = [(root, event) for event in events_of(trace, names("div")) for root in _averaged(g, event)]
    for sink, root, sign in _hiding(trace) if kept else ():
        for name, event in kept:
            if (
                name == root
                and sign == "drop"
                and event.function == sink.event.function
                and _together(event, sink.event)
            ):
                yield Mistaken(sink.event, sink.mask, text_of(trace, sink.mask), root, "keep", event.span)


def _together(one: Event, other: Event) -> bool:
    return [c.id for c in one.calls] == [c.id for c in other.calls]


def _averaged(g: Graph, event: Event) -> Iterator[str]:
    """The parameters that are the mask of a mean over what a mask keeps."""
    operands = tensor_operands(event)
    if len(operands) != 2:
        return
    above, below = (_summed(g, o) for o in operands)
    product = g.producer(above.value) if above is not None else None
    if product is None or below is None or product.short != "mul":
        return
    counted = {root for root, sign in roots(g, below.value, "keep") if sign == "keep"}
    for operand in tensor_operands(product):
        yield from (root for root, sign in roots(g, operand.value, "keep") if sign == "keep" and root in counted)


def _summed(g: Graph, operand: Operand) -> Operand | None:
    """What an operand is the sum of."""
    event = g.producer(operand.value)
    made = g.origin(event, frozenset(_COUNTED)) if event is not None else None
    given = tensor_operands(made) if made is not None and made.short == "sum" else []
    return given[0] if given else None


def _against_fills(trace: Trace) -> Iterator[Mistaken]:
    """One of several fills with 0 along the way of a tensor that fills where all the others do not."""
    g = graph(trace)
    for _, start, stop, _ in trace.entries:
        found: dict[tuple[str, str], list[tuple[Event, Operand, Sign]]] = {}
        for event in trace.events[start:stop]:
            mask = event.operand("mask") if event.short == "masked_fill" else None
            if mask is None or not isinstance(mask.value, Tensor) or truth_number(event.value("value")) != 0:
                continue
            for root, sign in roots(g, mask.value, "drop"):
                found.setdefault((root, event.function), []).append((event, mask, sign))
        for (root, _), fills in found.items():
            yield from _odd_one(g, root, fills)


def _odd_one(g: Graph, root: str, fills: list[tuple[Event, Operand, Sign]]) -> Iterator[Mistaken]:
    for event, mask, sign in fills:
        others = {e.span: e for e, _, s in fills if s != sign}
        if len(others) < 2 or len({e.span for e, _, s in fills if s == sign}) != 1:
            continue
        way = {e.index for e in g.back(event, lambda e: True)}
        if all(e.index in way or event.index in {b.index for b in g.back(e, lambda e: True)} for e in others.values()):
            right: Sign = "keep" if sign == "drop" else "drop"
            yield Mistaken(event, mask, text_of(g.trace, mask), root, right, next(iter(others)))
            return
