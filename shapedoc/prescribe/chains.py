"""Where each size of a finding came from: the chain of lines from the fault back to what the author wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Event, Operand
from shapedoc.prescribe.bench import Bench
from shapedoc.rules.reading.flow import graph, shape_at

__all__ = ["Link", "chain_of"]

_LONGEST = 12


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain: the line, what stands there, and the shape that it makes."""

    line: int
    code: str
    shape: str


def chain_of(bench: Bench, finding: Finding) -> list[Link]:
    """The lines that made the tensor of a finding, the fault first; empty where its tensor is not in the trace.

    Labels of the finding that the walk does not come to stand at the end: they show the other operands.
    """
    links: list[Link] = []
    for event, operand in _starts(bench, finding):
        shape = shape_at(event, operand)
        shown = event.sizes.show_shape(shape) if event.sizes is not None and shape is not None else ""
        links = [Link(event.span.line, operand.text or bench.trace.source(event.span), shown)]
        made = graph(bench.trace).producer(operand.value)
        while made is not None and len(links) < _LONGEST:
            links.append(_link(bench, made))
            made = graph(bench.trace).main_source(made)
        break
    seen = {link.line for link in links}
    links += [
        Link(label.span.line, label.text, "")
        for label in finding.labels
        if not label.span.path and label.span.line not in seen
    ]
    return list(dict.fromkeys(links))


def _starts(bench: Bench, finding: Finding) -> Iterator[tuple[Event, Operand]]:
    """The uses of a finding's tensor where the finding stands, or where its labels do."""
    events = bench.touching(finding)
    for event in events:
        for operand in event.operands:
            text = operand.text or (bench.trace.source(operand.span) if operand.span is not None else "")
            if text == finding.tensor:
                yield event, operand
    for event in events:
        for operand in event.operands:
            if operand.span == finding.span:
                yield event, operand


def _link(bench: Bench, event: Event) -> Link:
    shape = event.sizes.show_shape(event.sizes.shape(event.shape)) if event.sizes and event.shape is not None else ""
    source = bench.trace.source(event.span)
    text = f"{event.target} = {source}" if event.target else source
    return Link(event.span.line, text if len(text) <= 90 else text[:87] + "...", shape)
