"""SD305 partial-encoder-state."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import Dim
from shapedoc.core.finding import Finding
from shapedoc.core.sizes import Kind
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Bound, Int, NoneValue, SliceValue, Value
from shapedoc.rules.decoding.asked import asked, number_taken
from shapedoc.rules.decoding.halves import halved
from shapedoc.rules.decoding.stepwise import stepwise
from shapedoc.rules.reading.attention import LINEAR
from shapedoc.rules.reading.cells import Cell
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.encoders import Taken, index_parts, is_bidirectional, layers_of, spelled, taken
from shapedoc.rules.reading.flow import SHAPING, Graph, graph
from shapedoc.rules.reading.wording import call_labels, finding, label, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_LAYERS = frozenset(("n_layers", "num_layers", "nlayers", "n_layer", "num_layer", "nr_layers", "layers"))


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for event, cell, source in asked(trace, g):
        tells = _lower_ask if number_taken(event) is None else _lowest_asks
        yield tells(trace, event, cell, text_of(trace, source))
    yield from (_step_by_step(trace, cell, option) for cell, option in stepwise(trace))
    for part in taken(trace, g):
        if part.part == "out" or not part.users:
            continue
        yield from (_halves(trace, part, *places) for places in halved(g, part))
        for event in part.users:
            if event.short in ("view", "reshape") and is_bidirectional(part.cell):
                yield from _reordered(trace, part, event)
            if event.short == "getitem" and is_bidirectional(part.cell):
                yield from _sliced(trace, g, part, event)
        numbers = [number_taken(e) for e in part.users]
        if any(n is None for n in numbers):
            continue
        places = {n for n in numbers if n is not None}
        if is_bidirectional(part.cell):
            if len({n % 2 for n in places}) == 1 and not _is_bridge(g, part.users[0]):
                yield _one_direction(trace, part, part.users[0], places)
        elif _lowest(part, places):
            yield _lowest_layer(trace, part, part.users[0])


def _step_by_step(trace: Trace, cell: Cell, option: bool) -> Finding:
    event, layer = cell.event, cell.layer
    name = layer.name.removeprefix("self.") or layer.kind.rpartition(".")[2]
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="note" if option else "warning",
        message=f"`{name}` runs in both directions and is given one step at a time: nothing runs backward",
        tensor=name,
        labels=label(layer.span, "built bidirectional") + call_labels(event),
        why="the backward direction begins at the last step that it is given: of one step at a time, with the state of "
        "the step before, it makes a second forward direction that sees nothing of what follows",
        help="give it the whole sequence in one call, or build it without bidirectional=True",
    )


def _is_bridge(g: Graph, event: Event) -> bool:
    """Whether one direction is mapped and bent to make a decoder's first state, as Bahdanau's paper does.

    Source: Bahdanau et al. 2015, appendix A.2.2: s_0 = tanh(W_s h_1) with the backward state.
    """
    through = SHAPING | LINEAR
    return any(e.short in ("tanh", "Tanh.forward") for e in g.forward(event, lambda e: e.short in through))


def _lowest(part: Taken, places: set[int]) -> bool:
    layers = layers_of(part.cell)
    return layers is not None and layers > 1 and places == {0} and part.part == "h"


def _one_direction(trace: Trace, part: Taken, event: Event, places: set[int]) -> Finding:
    number = max(places)
    which, other = ("backward", "forward") if number % 2 else ("forward", "backward")
    name = part.tensor.name or "h_n"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"only the {which} direction of {name} is used; the {other} one is dropped",
        tensor=name,
        actual=_text(event, part),
        labels=label(part.cell.layer.span, "built bidirectional")
        + label(part.cell.event.span, f"returns {name}")
        + call_labels(event),
        why="the state of a bidirectional module holds two directions for every layer: the last layer's are "
        "h_n[-2] (forward) and h_n[-1] (backward)",
        help=f"join both: `torch.cat(({name}[-2], {name}[-1]), dim=-1)`",
        causes=_halved(part),
    )


def _lowest_layer(trace: Trace, part: Taken, event: Event) -> Finding:
    name = part.tensor.name or "h_n"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"{name}[0] is the state of the lowest of {layers_of(part.cell)} layers",
        tensor=name,
        actual=_text(event, part),
        labels=label(part.cell.layer.span, f"built with {layers_of(part.cell)} layers")
        + label(part.cell.event.span, f"returns {name}")
        + call_labels(event),
        why="layers are stacked with the lowest first; what a module has made of its input is in the last one",
        help=f"take the last layer: `{name}[-1]`",
    )


def _reordered(trace: Trace, part: Taken, event: Event) -> Iterator[Finding]:
    """A view of (layers * directions, ...) as (2, layers, ...)."""
    shape = event.shape
    layers = part.cell.layer.config.get("num_layers")
    if shape is None or shape.rank is None or len(shape.axes) < 3 or event.sizes is None or not isinstance(layers, Int):
        return
    count = event.sizes.resolve(layers.dim)
    first, second = (event.sizes.resolve(a.dim) for a in shape.axes[:2])
    # Two layers that are written as a number are no different from two directions.
    if first != Dim.of(2) or second != count or count.value == 1 or count.const == 2:
        return
    name = part.tensor.name or "h_n"
    yield finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error" if count.value is not None else "warning",
        message=f"{name} is viewed as (2, layers, ...), but torch orders (layers, 2)",
        tensor=name,
        actual=_text(event, part),
        expected=f"({event.sizes.show(count)}, 2, ...)",
        labels=label(part.cell.event.span, f"returns {name}") + call_labels(event),
        why="a layer's two directions lie beside each other; read the other way round, layers and directions mix",
        help=f"view it as `{name}.view({event.sizes.show(count)}, 2, ...)`",
    )


def _halves(trace: Trace, part: Taken, cut: Event, together: Event) -> Finding:
    """The first and the second half of (layers * directions, ...) side by side, as if directions came first."""
    name = part.tensor.name or "h_n"
    text = text_of(trace, tensor_operands(cut)[0])
    return finding(
        trace,
        cut,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"the halves of {text} are its lower and its upper layers, not its two directions",
        tensor=text,
        actual=_text(cut, part),
        labels=label(part.cell.layer.span, "built with several layers")
        + label(part.cell.event.span, f"returns {name}")
        + label(together.span, "the halves are put side by side")
        + call_labels(cut),
        why="the state of a bidirectional module is (layers * 2, batch, hidden), a layer's two directions beside each "
        "other: forward and backward alternate, and halves are directions only where there is one layer",
        help=f"join the directions: `torch.cat(({text}[0::2], {text}[1::2]), dim=-1)`",
        causes=_halved(part),
    )


def _sliced(trace: Trace, g: Graph, part: Taken, event: Event) -> Iterator[Finding]:
    """The first `layers` entries of a bidirectional state: the lower layers with both directions, not one of each."""
    parts = index_parts(event.value("index"))
    count = part.cell.layer.config.get("num_layers")
    if not parts or not isinstance(parts[0], SliceValue) or not isinstance(count, Int) or event.sizes is None:
        return
    cut = parts[0]
    if not isinstance(cut.lower, NoneValue) or not isinstance(cut.step, NoneValue):
        return
    layers = event.sizes.resolve(count.dim)
    if not _is_count(event, cut.upper, layers) or _is_bridge(g, event):
        return
    name, shown = part.tensor.name or "h_n", event.sizes.show(layers)
    text = trace.source(event.span) or f"{name}[:{shown}]"
    one = layers.value == 1
    if one and any(_begins(e, cut.upper) for e in part.users):
        return
    yield finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"{text} drops the backward direction"
        if one
        else f"{text} takes both directions of the lower layers, not one direction of every layer",
        tensor=name,
        actual=_text(event, part),
        labels=label(part.cell.layer.span, "built bidirectional")
        + label(part.cell.event.span, f"returns {name}")
        + call_labels(event),
        why="the state of a bidirectional module is (layers * 2, batch, hidden), a layer's two directions beside each "
        "other: forward and backward alternate",
        help=f"join or add the directions: `{name}[0::2] + {name}[1::2]` has `{shown}` layers",
        causes=_halved(part),
    )


def _halved(part: Taken) -> tuple[str, ...]:
    """The module whose state loses a direction, wherever that happens."""
    span = part.cell.layer.span
    return (f"a direction of what was built on line {span.line} of {span.path}",)


def _is_count(event: Event, number: Value, layers: Dim) -> bool:
    """Whether a number is that of the layers of an encoder, or of a decoder that is built alike."""
    sizes = event.sizes
    if sizes is None or isinstance(number, NoneValue):
        return False
    if isinstance(number, Int):
        upper = sizes.resolve(number.dim)
        if upper.value is not None and layers.value is not None:
            return upper.value == layers.value
        if sizes.compare(upper, layers).kind is Kind.ALWAYS:
            return True
        if sizes.compare(upper, layers * 2).kind is Kind.ALWAYS:
            return False
    called = number.method if isinstance(number, Bound) else getattr(number, "name", "")
    return called.lower() in _LAYERS


def _begins(event: Event, number: Value) -> bool:
    """Whether an event takes what stands after the first `number` entries."""
    parts = index_parts(event.value("index")) if event.short == "getitem" else None
    first = parts[0] if parts else None
    return isinstance(first, SliceValue) and spelled(first.lower) == spelled(number)


def _lowest_asks(trace: Trace, event: Event, cell: Cell, name: str) -> Finding:
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"attention queries {name}[0], the lowest of {layers_of(cell)} layers",
        tensor=name,
        labels=label(cell.layer.span, f"built with {layers_of(cell)} layers")
        + label(cell.event.span, "the state goes in or comes out here")
        + call_labels(event),
        why="layers are stacked with the lowest first; what the decoder knows after all of them is in the last one",
        help=f"query with the last layer: `{name}[-1]`",
    )


def _lower_ask(trace: Trace, event: Event, cell: Cell, name: str) -> Finding:
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"attention queries {name}[:-1], every layer but the last",
        tensor=name,
        labels=label(cell.layer.span, "built here")
        + label(cell.event.span, "the state goes in or comes out here")
        + call_labels(event),
        why="layers are stacked with the lowest first; `[:-1]` leaves out the very one that has seen all of them",
        help=f"query with the last layer: `{name}[-1:]`",
    )


def _text(event: Event, part: Taken) -> str:
    return event.sizes.show_shape(event.sizes.shape(part.tensor.shape)) if event.sizes is not None else ""


RULE = Rule(
    code="SD305",
    name="partial-encoder-state",
    severity="warning",
    summary="Only one direction, or only the lowest layer, of an encoder's state is used.",
    what="Looks at every use of the state that a recurrent module returns. Reports a bidirectional state of which only "
    "one direction is taken, the first of several layers where nothing else is, a view as (2, layers, ...), and the "
    "two halves of a stacked state put side by side; and a bidirectional module that is given one step at a time, with "
    "the state of the step before (a note where that is an option which the file leaves off). One direction that is "
    "mapped and bent into a decoder's first state is Bahdanau's recipe, and right.",
    why="The state is (layers * directions, batch, hidden), the lowest layer first, a layer's directions beside each "
    "other. `h_n[-1]` of a bidirectional module is the backward direction alone.",
    instead="`torch.cat((h_n[-2], h_n[-1]), dim=-1)`; `h_n.view(layers, 2, batch_size, d_h)`.",
    source="PyTorch documentation, torch.nn.LSTM, h_n.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, d_emb, d_h, n_classes):
        super().__init__()
        self.rnn = nn.GRU(d_emb, d_h, batch_first=True, bidirectional=True)
        self.out = nn.Linear(d_h, n_classes)

    def forward(self, embedded):
        outputs, hidden = self.rnn(embedded)
        return self.out(hidden[-1])  # <- SD305


torch.manual_seed(0)
result = Classifier(3, 7, 4)(torch.randn(2, 5, 3))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, d_emb, d_h, n_classes):
        super().__init__()
        self.rnn = nn.GRU(d_emb, d_h, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * d_h, n_classes)

    def forward(self, embedded):
        outputs, hidden = self.rnn(embedded)
        return self.out(torch.cat((hidden[-2], hidden[-1]), dim=-1))


torch.manual_seed(0)
result = Classifier(3, 7, 4)(torch.randn(2, 5, 3))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: views layers before directions, or adds the two directions of every layer."
    ),
    kind="silent",
)
