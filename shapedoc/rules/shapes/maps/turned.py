"""Linear maps whose two sizes are the wrong way round, told as findings of a rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Int, Layer
from shapedoc.rules.reading.blame import layer_of
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of
from shapedoc.rules.shapes.maps.exchanged import Exchanged, Outlet, exchanged_maps, outlets
from shapedoc.rules.shapes.maps.fed_joined import FedJoined, fed_joined
from shapedoc.rules.shapes.maps.swapped import Swapped, swapped_maps

__all__ = ["turned_maps"]


def turned_maps(trace: Trace, fed: Sequence[Finding], code: str, name: str) -> Iterator[Finding]:
    """Every such map that `fed`, what is found of modules that are fed another size, says nothing of."""
    told = {f.span for f in fed}
    shown = told | {lb.span for f in fed for lb in f.labels}
    surely = told | {lb.span for f in fed if f.severity != "note" for lb in f.labels}
    for found in _found(trace):
        hidden = surely if isinstance(found, Exchanged | Outlet) else shown
        if found.layer.span not in hidden:
            surely.add(found.layer.span)
            shown.add(found.layer.span)
            yield from _told(trace, found, code, name)


def _found(trace: Trace) -> Iterator[Swapped | Exchanged | Outlet | FedJoined]:
    yield from swapped_maps(trace)
    yield from exchanged_maps(trace)
    yield from outlets(trace)
    yield from fed_joined(trace)


def _told(trace: Trace, found: Swapped | Exchanged | Outlet | FedJoined, code: str, name: str) -> Iterator[Finding]:
    event, layer = found.event, found.layer
    ours, made = (layer.config[setting] for setting in ("in_features", "out_features"))
    if layer.span.path or event.sizes is None or not isinstance(ours, Int) or not isinstance(made, Int):
        return
    before, after = event.sizes.show(ours.dim), event.sizes.show(made.dim)
    what, labels, why = _reason(trace, found, before, after)
    known = "?" not in after
    makes = f"`{after}`" if known else "something else"
    yield finding(
        trace,
        event,
        layer.span,
        code=code,
        name=name,
        severity="warning",
        message=f"`{layer.name or 'Linear'}` makes {makes} of `{before}`, and what it makes {what}: "
        "its two sizes are the wrong way round",
        tensor=layer.name,
        actual=f"({before}, {after})",
        expected=f"({after}, {before})",
        labels=labels + call_labels(event),
        why=why,
        help=f"nn.Linear({after}, {before})" if known else f"give it `{before}` as `out_features`",
    )


def _reason(
    trace: Trace, found: Swapped | Exchanged | Outlet | FedJoined, before: str, after: str
) -> tuple[str, tuple[Label, ...], str]:
    """What becomes of the output, where, and why that is wrong."""
    event = found.event
    match found:
        case Swapped(cut=cut, wanted=wanted):
            why = (
                f"the input has exactly the size that the output is meant to have, `{before}`: what is fed to it, and "
                "what is cut, fit only by chance"
            )
            return f"is cut into {wanted}", label(cut.span, f"cut into {wanted} here"), why
        case Exchanged(met=met):
            why = f"nothing but this map says that its input is `{before}`, and its output is to be just that"
            what = f"meets the `{before}` of {_other(trace, found, met)}"
            return what, label(met.span, f"`{after}` meets `{before}` here"), why
        case FedJoined(join=join, parts=parts):
            why = f"the sizes of {parts} parts that are joined are summed up, and that sum is what the map should take"
            return (
                "is the size of its input",
                label(join.span, f"{parts} parts are joined here") + label(event.span, "called here"),
                why,
            )
        case Outlet(used=used):
            why = (
                f"what a model chooses from has one score for each of the `{before}`, and this map is fed what another "
                "module has made"
            )
            return "is the answer", label(used, "the answer") + label(event.span, "called here"), why


def _other(trace: Trace, found: Exchanged, met: Event) -> str:
    consumer = layer_of(met)
    if isinstance(consumer, Layer):
        return f"`{consumer.name or consumer.kind.rpartition('.')[2]}`"
    return text_of(trace, found.other)
