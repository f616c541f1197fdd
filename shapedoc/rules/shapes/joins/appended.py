"""A query that is joined to the memory as one more time step, where its features were to stand beside each other's."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Tensor
from shapedoc.rules.reading.attention import LINEAR, NONLINEAR
from shapedoc.rules.reading.contractions import PRODUCTS, names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.softmaxes import softmaxes

__all__ = ["appended_queries"]

_JOINS = names("cat concat concatenate")
_SCORED = KEEPS | LINEAR | NONLINEAR | PRODUCTS


def appended_queries(trace: Trace) -> Iterator[tuple[Event, Operand, Operand]]:
    """Joins whose longer axis a softmax normalises, and the query and the memory that they join.

    Nothing else may go into the scores: a sentinel that is appended to the memory is asked by another query.
    """
    g = graph(trace)
    for softmax in softmaxes(trace):
        made = g.producer(softmax.scores.value)
        if made is None or softmax.axis is None:
            continue
        chain = list(g.back(made, lambda e: e.short in _SCORED))
        joined = [e for e in chain if e.short in _JOINS]
        if len(joined) == 1 and not any(_asks(g, e, joined[0]) for e in chain):
            found = _appended(g, joined[0], softmax.axis)
            if found is not None and any(e.short in LINEAR for e in chain):
                yield joined[0], *found


def _asks(g: Graph, event: Event, joined: Event) -> bool:
    """Whether a sum or a product brings another tensor into the scores, that is no parameter of the model."""
    if event.short not in PRODUCTS and event.short not in ("add", "mul", "sub"):
        return False
    others = [o for o in tensor_operands(event) if not (isinstance(o.value, Tensor) and o.value.learned)]
    behind = [o for o in others if not _comes_of(g, o, joined)]
    return any(not _is_learned(g, o) for o in behind)


def _comes_of(g: Graph, operand: Operand, joined: Event) -> bool:
    made = g.producer(operand.value)
    return made is not None and any(e is joined for e in g.back(made, lambda e: e.short in _SCORED))


def _is_learned(g: Graph, operand: Operand) -> bool:
    """Whether a tensor is a parameter of the model, laid out in another way at most."""
    value = operand.value
    for _ in range(20):
        made = g.producer(value)
        if isinstance(value, Tensor) and value.learned:
            return True
        inputs = tensor_operands(made) if made is not None and made.short in SHAPING else []
        if not inputs:
            return False
        value = inputs[0].value
    return False


def _appended(g: Graph, event: Event, axis: Axis) -> tuple[Operand, Operand] | None:
    joined, shape, dim = event.operand("tensors"), result_shape(event), event.value("dim")
    if joined is None or len(joined.parts) != 2 or shape is None or shape.rank is None or not isinstance(dim, Int):
        return None
    number = dim.value
    if number is None or not -shape.rank <= number < shape.rank or not shape.axes[number].same(axis):
        return None
    query = [o for o in joined.parts if _is_single(g, event, o, number)]
    memory = [o for o in joined.parts if o not in query]
    return (query[0], memory[0]) if len(query) == 1 and len(memory) == 1 else None


def _is_single(g: Graph, event: Event, operand: Operand, number: int) -> bool:
    """Whether an axis of size 1 was put where the join is."""
    shape, made = shape_at(event, operand), g.producer(operand.value)
    if shape is None or shape.rank is None or made is None or made.short not in ("unsqueeze", "expand_dims"):
        return False
    return shape.axes[number].dim == ONE
