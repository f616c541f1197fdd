"""Linear maps that are built with their two sizes exchanged, as what their output meets or becomes shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Int, Layer, Tensor, Unknown, Value
from shapedoc.rules.reading.blame import axis_of, layer_of, problems, twins
from shapedoc.rules.reading.contractions import literal
from shapedoc.rules.reading.flow import SHAPING, Graph, events_of, graph, shape_at
from shapedoc.rules.reading.wording import severity_of
from shapedoc.rules.shapes.maps.inputs import feed_of

__all__ = ["Exchanged", "Outlet", "exchanged_maps", "outlets"]

# Ops that keep the last axis of their first operand, and hand on what they got, layout and sign at most changed.
_THROUGH = SHAPING | frozenset(
    (
        "tanh", "relu", "gelu", "sigmoid", "silu", "elu", "leaky_relu", "dropout",
        "Tanh.forward", "ReLU.forward", "GELU.forward", "Sigmoid.forward", "SiLU.forward", "ELU.forward",
        "LeakyReLU.forward", "Dropout.forward",
    )
)  # fmt: skip


# Names of sizes that count what a model chooses from.
_COUNTS = re.compile(
    r"(^|_)n?vocab|(^|_)(n|num)_?(class(es)?|labels?|tags?|tokens?)$|(^|_)(class|label|tag)(es|s)?_(num|count|size)$"
)
# As many as there are results, whatever they are.
_RESULTS = re.compile(r"(^|_)out(put)?_(size|dim)$")
_SCORES = re.compile(r"(^|[._])logits?$")
# At most so many classes are counted by a number in the source.
_FEW = 16
_CHOOSES = frozenset(
    (
        "softmax", "log_softmax", "Softmax.forward", "LogSoftmax.forward", "argmax", "topk", "cross_entropy",
        "CrossEntropyLoss.forward", "gumbel_softmax",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Exchanged:
    """A linear map of `ours` to `made`, whose output meets `ours`: `event` is the call, `met` where it does not fit."""

    layer: Layer
    event: Event
    met: Event
    other: Operand | None


def exchanged_maps(trace: Trace) -> Iterator[Exchanged]:
    """Every map whose output meets the size that its input was built as, once.

    Two sizes of one constructor may be equal on purpose, and nobody is to hear of that. That the output should be just
    what the input was built as, of which nothing else is known, is no chance.
    """
    g = graph(trace)
    seen: set[Span] = set()
    for event, problem in problems(trace, "elementwise", "mismatched-module-input", "mismatched-product"):
        if severity_of(problem.sameness) != "note" or event.sizes is None or event.spoilt:
            continue
        if any(severity_of(p.sameness) == "error" for other in twins(trace, event) for p in other.problems):
            continue  # numbers that were given tell which of the two it is
        for operand, mine, theirs, other in _sides(trace, event, problem):
            found = _exchanged(trace, g, event, operand, mine, theirs, other)
            if found is not None and found.layer.span not in seen:
                seen.add(found.layer.span)
                yield found
    for found in _odd_ones(trace, g):
        if found.layer.span not in seen:
            seen.add(found.layer.span)
            yield found


def _odd_ones(trace: Trace, g: Graph) -> Iterator[Exchanged]:
    """The one of three maps whose results go into one call that is not followed, if the others have its sizes turned.

    The maps of query, key and value: two make d_attn of d_model, the third makes d_model of d_attn.
    """
    for event in trace.events:
        if not event.lost.startswith("no op for") or event.sizes is None or len(event.operands) < 3:
            continue
        maps = [found for operand in event.operands if (found := _map_behind(g, event, operand)) is not None]
        for layer, made, _, ours, out in maps:
            others = [m for m in maps if m[0].span != layer.span]
            turned = [m for m in others if (m[3], m[4]) == (out, ours)]
            if ours != out and len({m[0].span for m in turned}) >= 2 and len(turned) == len(others):
                yield Exchanged(layer, made, event, turned[0][2])


def _map_behind(g: Graph, event: Event, operand: Operand) -> tuple[Layer, Event, Operand, Dim, Dim] | None:
    """The linear map that an operand comes from, laid out otherwise at most, with its call and its two sizes."""
    made = g.producer(operand.value)
    made = g.origin(made, SHAPING) if made is not None else None
    layer = layer_of(made) if made is not None and made.short == "Linear.forward" else None
    if made is None or layer is None or layer.span is None or layer.span.path or event.sizes is None:
        return None
    ours, out = (layer.config.get(name) for name in ("in_features", "out_features"))
    if not isinstance(ours, Int) or not isinstance(out, Int) or _root(g, made.value("input")) is None:
        return None
    sizes = [event.sizes.resolve(size.dim) for size in (ours, out)]
    if not all(size.named and not any(s.flexible for s in size.syms) for size in sizes):
        return None
    return layer, made, operand, sizes[0], sizes[1]


def _sides(trace: Trace, event: Event, problem: Problem) -> Iterator[tuple[Operand, Dim, Dim, Operand | None]]:
    """The operands that do not fit, each with its size, the size that it meets, and what has that one."""
    if problem.kind == "mismatched-module-input":
        feed = feed_of(trace, event, problem)
        if feed is not None:
            yield feed.operand, feed.axis.dim, feed.wanted.dim, None
        return
    pair = [event.operand(name) for name in problem.operands]
    if len(pair) != 2 or pair[0] is None or pair[1] is None:
        return
    one, other = _met(event, problem, pair[0], pair[1])
    if one is not None and other is not None:
        yield pair[0], one.dim, other.dim, pair[1]
        yield pair[1], other.dim, one.dim, pair[0]


def _met(event: Event, problem: Problem, one: Operand, other: Operand) -> tuple[Axis | None, Axis | None]:
    """The two axes that a problem is about: for an elementwise operation, those that lie beneath each other."""
    if problem.kind != "elementwise":
        first, second = (axis_of(event, o, p) for o, p in zip((one, other), problem.axes, strict=False))
        return first, second
    shapes = shape_at(event, one), shape_at(event, other)
    if shapes[0] is None or shapes[1] is None or event.sizes is None:
        return None, None
    for first, second in zip(reversed(shapes[0].suffix), reversed(shapes[1].suffix), strict=False):
        if severity_of(event.sizes.compare(first.dim, second.dim)) == "note":
            return first, second
    return None, None


def _exchanged(
    trace: Trace, g: Graph, event: Event, operand: Operand, mine: Dim, theirs: Dim, other: Operand | None
) -> Exchanged | None:
    sizes = event.sizes
    made = g.producer(operand.value)
    made = g.origin(made, _THROUGH) if made is not None else None
    layer = layer_of(made) if made is not None and made.short == "Linear.forward" else None
    if sizes is None or made is None or layer is None or layer.span is None or layer.span.path or made.spoilt:
        return None
    ours, out = (layer.config.get(name) for name in ("in_features", "out_features"))
    if not isinstance(ours, Int) or not isinstance(out, Int):
        return None
    mine, theirs = sizes.resolve(mine), sizes.resolve(theirs)
    if sizes.resolve(out.dim) != mine or sizes.resolve(ours.dim) != theirs or _have_one_number(mine, theirs):
        return None
    fed = _root(g, made.value("input"))
    if fed is None or not _is_free(trace, g, made, fed, theirs):
        return None
    if other is not None and _root(g, other.value) is fed:
        return None  # it is added to what it was made of
    consumer = layer_of(event)
    made_next = consumer.config.get("out_features") if consumer is not None else None
    if isinstance(made_next, Int) and sizes.resolve(made_next.dim) in (mine, theirs):
        return None  # layers of one make in a row, or a way back whose own size is wrong
    return Exchanged(layer, made, event, other)


def _have_one_number(one: Dim, other: Dim) -> bool:
    return one.value is not None and one.value == other.value


def _root(g: Graph, value: Value | None) -> Value | None:
    """The tensor that a value is, but for its layout: one that nothing in sight made; None for any other."""
    made = g.producer(value)
    while made is not None:
        if made.short not in _THROUGH or made.short == "phi":
            return None
        value = next((o.value for o in made.operands if isinstance(o.value, Tensor)), None)
        made = g.producer(value)
    return value if isinstance(value, Tensor) else None


def _is_free(trace: Trace, g: Graph, call: Event, fed: Value, size: Dim) -> bool:
    """Whether nothing but this map says that what it is fed has the size that it was built with."""
    built = layer_of(call)
    for event in trace.events:
        layer = layer_of(event)
        if layer is None or built is None or event is call or event.sizes is None or layer.span == built.span:
            continue
        if event.function == call.function and _root(g, event.value("input")) is fed:
            wanted = (layer.config.get(name) for name in ("in_features", "input_size", "normalized_shape", "embed_dim"))
            if any(isinstance(w, Int) and event.sizes.resolve(w.dim) == event.sizes.resolve(size) for w in wanted):
                return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Outlet:
    """A linear map from the size of a vocabulary to a width, whose output is what the model answers with at `used`."""

    layer: Layer
    event: Event
    used: Span


def outlets(trace: Trace) -> Iterator[Outlet]:
    """Every map in front of a choice that makes a width of a number of classes, once.

    ``Linear(vocab_size, d_model)`` behind a decoder that is not followed, with a softmax behind it or nothing at all:
    it should make one score for each word. A map of words that come in as such is fed what a function was given.
    """
    g = graph(trace)
    seen: set[Span] = set()
    for event in events_of(trace, ("Linear.forward",)):
        layer = layer_of(event)
        if layer is None or layer.span is None or layer.span.path or layer.span in seen:
            continue
        if any(severity_of(p.sameness) != "note" for p in event.problems):
            continue
        ours, out = (_named(event, layer.config.get(name)) for name in ("in_features", "out_features"))
        few = out != "" and _is_few(event, layer)
        if ours == out or _COUNTS.search(out) or not (few or _COUNTS.search(ours) or _RESULTS.search(ours)):
            continue
        made = _is_fed_what_it_makes(event, layer)
        if not made and (_RESULTS.search(ours) or event.problems or not _is_made_unseen(g, event)):
            continue
        used = _choice(g, event) if few else _answer(trace, g, event, returned=bool(out))
        if used is not None:
            seen.add(layer.span)
            yield Outlet(layer, event, used)


def _named(event: Event, value: Value | None) -> str:
    """The name of a size that is one name; "" for any other."""
    if not isinstance(value, Int) or event.sizes is None:
        return ""
    sym = value.dim.sym or event.sizes.resolve(value.dim).sym
    return sym.name.lower() if sym is not None else ""


def _is_few(event: Event, layer: Layer) -> bool:
    """Whether the input is said to have as many features as there are classes: ``Linear(2, d_model)``."""
    ours = layer.config.get("in_features")
    const = event.sizes.resolve(ours.dim).const if isinstance(ours, Int) and event.sizes is not None else None
    return const is not None and const <= _FEW


def _is_fed_what_it_makes(event: Event, layer: Layer) -> bool:
    """Whether the input has the very size that the output is built with, and not that of the input."""
    operand, made = event.operand("input"), layer.config.get("out_features")
    shape, sizes = shape_at(event, operand), event.sizes
    if shape is None or not shape.suffix or sizes is None or not isinstance(made, Int):
        return False
    return sizes.resolve(shape.suffix[-1].dim) == sizes.resolve(made.dim) and made.dim.named


def _is_made_unseen(g: Graph, event: Event) -> bool:
    """Whether what is fed is the result of something that is not followed, its layout changed at most."""
    value = event.value("input")
    if isinstance(value, Unknown):
        return True
    made = g.producer(value)
    for _ in range(20):
        if made is None or made.lost:
            return made is not None
        if made.short not in _THROUGH | {"mean", "Identity.forward"}:
            return False
        if any(isinstance(o.value, Unknown) for o in made.operands):
            return True
        made = g.main_source(made)
    return False


def _choice(g: Graph, event: Event) -> Span | None:
    """Where one of the features of an output is chosen, as they are, or the output where its name says so."""
    if _SCORES.search(event.target):
        return event.span
    for user in g.users[event.index]:
        if user.short in _CHOOSES and literal(user.value("dim")) in (-1, 1, None):
            return user.span
    return None


def _answer(trace: Trace, g: Graph, event: Event, *, returned: bool) -> Span | None:
    """Where the output is chosen from, or, if that will do, returned as it is."""
    made = (event, *g.forward(event, lambda e: e.short in _THROUGH))
    chosen = next((e.span for e in made if e.short in _CHOOSES), None)
    if chosen is None and _SCORES.search(event.target):
        chosen = event.span
    if chosen is not None or not returned:
        return chosen
    results = (e.result for e in made if e is event or e.short in _THROUGH)
    return next((trace.returned[r.uid] for r in results if isinstance(r, Tensor) and r.uid in trace.returned), None)
