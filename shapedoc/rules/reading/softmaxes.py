"""Softmaxes, library calls and written out: what is normalised, over which axis, and what the weights meet.

An axis keeps its identities on its way through layouts, masks and products and only ever gains some, so an axis later
in the program is the normalised one when it has all of its identities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Call, Event, Operand, Trace
from shapedoc.core.value import Layer, Tensor, Unknown
from shapedoc.rules.reading.contractions import literal, names, reduced_axes, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, axis_at, graph, result_shape, shape_at

__all__ = [
    "Softmax",
    "both_ways",
    "denominator",
    "holds",
    "is_axis",
    "is_renormalised",
    "made_axis",
    "softmaxes",
    "stripped",
]

_LIBRARY = names("softmax Softmax.forward gumbel_softmax")
# What may stand between the numerator and the sum that divides it.
_DENOMINATOR = SHAPING | names("add clamp clip clamp_min maximum clip_ nan_to_num where masked_fill")
# What a function does that only normalises.
_NORMALISES = SHAPING | names(
    "softmax Softmax.forward exp max amax sub sum div keepdims logsumexp masked_fill where mul add min neg maximum"
)


@dataclass(frozen=True, slots=True, eq=False)
class Softmax:
    """Weights that sum to one over `axis`.

    event: what made them. scores: what was normalised. axis: the normalised axis of the weights, None where it cannot
    be said. place: where the author says which axis. calls: how many of the calls around it the place lies in. kind:
    "softmax", "exp" for one written out, "sum" for a division by a sum. implicit: no axis was given. layer: the module
    that normalises. number: the axis as it is written. together: the axes that are normalised at once, where there are
    several.
    """

    event: Event
    scores: Operand
    axis: Axis | None
    place: Span
    depth: int
    kind: str
    implicit: bool = False
    layer: Layer | None = None
    number: int | None = None
    together: tuple[Axis, ...] = ()

    @property
    def shape(self) -> Shape | None:
        """The shape of the scores."""
        return shape_at(self.event, self.scores)


def is_axis(axis: Axis, earlier: Axis) -> bool:
    """Whether `axis` is what became of `earlier`."""
    return earlier.ids <= axis.ids


def holds(axis: Axis, earlier: Axis) -> bool:
    """Whether `axis` is what became of `earlier`, or was joined of it and others."""
    return is_axis(axis, earlier) or any(holds(f, earlier) for f in axis.factors)


@lru_cache(maxsize=2)
def softmaxes(trace: Trace) -> tuple[Softmax, ...]:
    """Every softmax of a trace."""
    return tuple(_all(trace, graph(trace)))


def _all(trace: Trace, g: Graph) -> Iterator[Softmax]:
    helpers = _helpers(trace)
    for event in trace.events:
        found = _library(event) or _written_out(g, event)
        if found is None:
            continue
        if found.depth and event.calls[-1].id in helpers and _is_general(trace, found):
            place = event.calls[-1].span
            found = replace(found, place=place, depth=found.depth - 1)
        yield found


def _is_general(trace: Trace, softmax: Softmax) -> bool:
    """Whether the function around a softmax leaves the axis to its callers, or is a softmax by name."""
    call = softmax.event.calls[-1]
    if not call.span.line:
        return False
    text = trace.source(softmax.place) if not softmax.place.path else ""
    return "softmax" in call.function.lower() or text.isidentifier()


def _helpers(trace: Trace) -> frozenset[int]:
    """The calls of the author's functions that only normalise."""
    others: set[int] = set()
    seen: set[int] = set()
    known: tuple[Call, ...] | None = None
    for event in trace.events:
        calls = event.calls
        if event.short in _NORMALISES:
            others.update([call.id for call in calls[:-1]])
            seen.update([call.id for call in calls[-1:]])
        elif calls is not known:
            known = calls
            others.update([call.id for call in calls])
    return frozenset(seen - others)


def _library(event: Event) -> Softmax | None:
    if event.short not in _LIBRARY:
        return None
    scores = _scores(event)
    if scores is None:
        return None
    shape = shape_at(event, scores)
    layer = event.value("self")
    depth = len(event.calls)
    problem = next((p for p in event.problems if p.kind == "implicit-softmax-axis"), None)
    if problem is not None:
        axis = axis_at(shape, problem.axes[0]) if problem.axes else None
        built = layer if isinstance(layer, Layer) else None
        return Softmax(event, scores, _kept(event, axis, shape), event.span, depth, "softmax", True, built)
    if isinstance(layer, Layer):
        number = literal(layer.config.get("dim"))
        place = layer.span
    else:
        dim = event.operand("dim")
        number = literal(dim.value) if dim is not None else None
        if number is None and event.short == "gumbel_softmax" and dim is None:
            number = -1
        place = dim.span if dim is not None and dim.span is not None else event.span
    axis = axis_at(shape, number) if number is not None else None
    built = layer if isinstance(layer, Layer) else None
    return Softmax(event, scores, _kept(event, axis, shape), place, depth, "softmax", False, built, number)


def _scores(event: Event) -> Operand | None:
    """What a softmax normalises; of a value that is not known, it has the shape of the weights."""
    operands = tensor_operands(event)
    if operands:
        return operands[0]
    given = event.operand("input")
    return replace(given, shape=event.shape) if given is not None and isinstance(given.value, Unknown) else None


def _kept(event: Event, axis: Axis | None, shape: Shape | None) -> Axis | None:
    """The axis of the weights that an axis of the scores became."""
    result = result_shape(event)
    if axis is None or shape is None or result is None:
        return axis
    if axis in shape.suffix:
        return axis_at(result, shape.suffix.index(axis) - len(shape.suffix)) or axis
    return axis_at(result, shape.prefix.index(axis)) or axis


def denominator(g: Graph, event: Event) -> Event | None:
    """The sum that a division divides by, where it is the sum of the numerator itself."""
    if event.short != "div":
        return None
    operands = tensor_operands(event)
    if len(operands) != 2 or not isinstance(operands[0].value, Tensor) or not isinstance(operands[1].value, Tensor):
        return None
    above, below = operands[0].value, g.producer(operands[1].value)
    if below is None:
        return None
    for source in g.back(below, lambda e: e.short in _DENOMINATOR):
        if source.short == "sum":
            summed = tensor_operands(source)
            if summed and isinstance(summed[0].value, Tensor) and _same_tensor(g, summed[0].value, above):
                return source
    return None


def _same_tensor(g: Graph, a: Tensor, b: Tensor, depth: int = 4) -> bool:
    """Whether two tensors are one, or the same expression written twice."""
    if a is b or (a.event >= 0 and a.event == b.event):
        return True
    first, second = g.producer(a), g.producer(b)
    if first is None or second is None or not depth:
        return False
    first, second = g.origin(first, SHAPING), g.origin(second, SHAPING)
    if first is second:
        return True
    ours, theirs = tensor_operands(first), tensor_operands(second)
    if first.op != second.op or not ours or len(ours) != len(theirs):
        return False
    pairs = [(x.value, y.value) for x, y in zip(ours, theirs, strict=True)]
    return all(isinstance(x, Tensor) and isinstance(y, Tensor) and _same_tensor(g, x, y, depth - 1) for x, y in pairs)


def _written_out(g: Graph, event: Event) -> Softmax | None:
    total = denominator(g, event)
    if total is None:
        return None
    summed, numerator = tensor_operands(total)[0], tensor_operands(event)[0]
    shape = shape_at(total, summed)
    axes = reduced_axes(total, shape) if shape is not None else None
    above = g.producer(numerator.value)
    source = next((e for e in g.back(above, lambda e: e.short in KEEPS) if e.short == "exp"), None) if above else None
    scores = numerator
    if source is not None:
        exponent = tensor_operands(source)
        scores = _without_maximum(g, exponent[0]) if exponent else numerator
    dim = total.operand("dim")
    place = dim.span if dim is not None and dim.span is not None else total.span
    axis = axes[0] if axes is not None and len(axes) == 1 else None
    kind, together = "exp" if source is not None else "sum", tuple(axes) if axes is not None and len(axes) > 1 else ()
    return Softmax(event, scores, axis, place, len(event.calls), kind, together=together)


def _without_maximum(g: Graph, exponent: Operand) -> Operand:
    """The scores, where their maximum was subtracted first."""
    event = g.producer(exponent.value)
    if event is None or event.short != "sub":
        return exponent
    operands = tensor_operands(event)
    return operands[0] if operands else exponent


def stripped(g: Graph, value: object) -> Event | None:
    """The event that made a tensor, before layouts, masks and scaling."""
    event = g.producer(value) if isinstance(value, Tensor) else None
    return g.origin(event, KEEPS) if event is not None else None


def made_axis(g: Graph, softmax: Softmax) -> Event | None:
    """The event that the normalised axis begins at, walking back from the scores."""
    event = g.producer(softmax.scores.value)
    axis = softmax.axis
    for _ in range(100):
        if event is None or axis is None:
            return event
        sources = [
            (source, found)
            for operand in tensor_operands(event)
            if (source := g.producer(operand.value)) is not None
            and (found := _earlier(shape_at(event, operand), axis)) is not None
        ]
        if not sources:
            return event
        event, axis = sources[0]
    return event


def _earlier(shape: Shape | None, axis: Axis) -> Axis | None:
    if shape is None:
        return None
    return next((a for a in shape.axes if a.ids <= axis.ids), None)


@lru_cache(maxsize=2)
def _of_source(trace: Trace) -> dict[int, list[Softmax]]:
    """The softmaxes of a trace by the event that made their scores."""
    g, found = graph(trace), dict[int, list[Softmax]]()
    for softmax in softmaxes(trace):
        source = stripped(g, softmax.scores.value)
        if source is not None:
            found.setdefault(source.index, []).append(softmax)
    return found


def both_ways(g: Graph, softmax: Softmax) -> bool:
    """Whether the same scores are normalised over another axis too: attention in both directions, or slots.

    Source: Xiong et al. 2017, dynamic coattention networks; Locatello et al. 2020, slot attention.
    """
    source, axis = stripped(g, softmax.scores.value), softmax.axis
    if source is None:
        return False
    same = _of_source(g.trace).get(source.index, ())
    others = [o for o in same if o is not softmax and not _alternatives(g, softmax.event, o.event)]
    if axis is None:
        return bool(others)
    return any(
        other.axis is not None and not is_axis(other.axis, axis) and not is_axis(axis, other.axis) for other in others
    )


def is_renormalised(g: Graph, softmax: Softmax) -> bool:
    """Whether a division by a sum follows a softmax over another axis: normalised twice, on purpose.

    Source: Guo et al. 2021, external attention, section 3.2.
    """
    event = g.producer(softmax.scores.value) if softmax.kind == "sum" else None
    source = g.origin(event, KEEPS) if event is not None else None
    first = _library(source) if source is not None else None
    if first is None or first.axis is None or softmax.axis is None:
        return False
    return not is_axis(softmax.axis, first.axis)


def _alternatives(g: Graph, one: Event, other: Event) -> bool:
    """Whether what follows takes either one's result or the other's: they stand in the two branches of a test."""
    mine, theirs = (_leaves_branch(g, event) for event in (one, other))
    return any(a is b and x is not y for a, x in mine for b, y in theirs)


def _leaves_branch(g: Graph, event: Event) -> list[tuple[Event, Event]]:
    """The joins of branches that a result goes into, masked at most, and the event that it comes there from."""
    ways = [event, *g.forward(event, lambda e: e.short in KEEPS and e.short != "phi")]
    return [(user, way) for way in ways for user in g.users[way.index] if user.short == "phi"]
