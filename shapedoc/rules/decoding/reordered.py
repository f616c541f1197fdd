"""Keys in one order, values in another: a batch sorted by length for the scores alone."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.shape import Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Seq, Tensor, Unknown, Value
from shapedoc.rules.reading.contractions import PRODUCTS, names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.softmaxes import softmaxes
from shapedoc.rules.reading.weights import uses

__all__ = ["mixed_orders"]

_SCORED = KEEPS | PRODUCTS | names("Linear.forward linear tanh Tanh.forward cat concat sum")
_SELECTS = names("getitem index_select")


def mixed_orders(trace: Trace) -> Iterator[tuple[Event, Operand, Event]]:
    """Products of weights with values, the values, and where these got another order for the keys."""
    g = graph(trace)
    for softmax in softmaxes(trace):
        made = g.producer(softmax.scores.value)
        if made is None:
            continue
        for use in uses(g, softmax):
            if use.values.value is softmax.event.result:
                continue
            root = _root(g, use.values)
            if root is None:
                continue
            scored = list(g.back(made, lambda e: e.short in _SCORED))
            picks = [e for e in scored if _permutes(e) and _is(e, root)]
            plain = any(_is(e, root) and not _permutes(e) for e in scored)
            if picks and not plain:
                yield use.event, use.values, picks[0]


def _root(g: Graph, operand: Operand) -> Tensor | None:
    """The tensor that values are, their layout changed at most; None where they were put in an order too."""
    value = operand.value
    for _ in range(100):
        event = g.producer(value)
        if event is None or event.short not in SHAPING or event.short == "phi":
            return value if isinstance(value, Tensor) else None
        inner = tensor_operands(event)
        if _permutes(event) or not inner:
            return None
        value = inner[0].value
    return None


def _is(event: Event, tensor: Tensor) -> bool:
    return any(o.value is tensor for o in tensor_operands(event)[:1])


def _permutes(event: Event) -> bool:
    """Whether an index puts the elements of one axis in an order that a tensor or a list gives."""
    operands = tensor_operands(event)
    if event.short not in _SELECTS or not operands:
        return False
    given, kept = shape_at(event, operands[0]), result_shape(event)
    return _picks(event.value("index")) and _rank(given) == _rank(kept)


def _picks(index: Value | None) -> bool:
    match index:
        case Seq(kind="tuple", items=items):
            return sum(_picks(i) for i in items) == 1
        case Seq():
            return True
        case Tensor(kind=kind):
            return kind != "bool"
    return isinstance(index, Unknown)


def _rank(shape: Shape | None) -> int | None:
    return shape.rank if shape is not None else None
