"""Masks that a function is given, and does not hand on to the attention that it calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Tensor
from shapedoc.core.written import Function, Parameter
from shapedoc.rules.reading.contractions import PRODUCTS, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, graph
from shapedoc.rules.reading.sinks import mask_sinks
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.weights import followed

__all__ = ["MASK", "Unpassed", "maskless_call", "not_passed_on"]

# What a mask is called.
MASK = re.compile(r"(^|_)(mask|masks|pad|padding|pad_mask|is_pad)(_|$)")


@dataclass(frozen=True, slots=True, eq=False)
class Unpassed:
    """A softmax of bare scores in a function that is called without the mask; of: whose scores, where that is said."""

    softmax: Event
    of: str = ""


def not_passed_on(trace: Trace, function: Function, parameter: Parameter) -> Unpassed | None:
    """A mask that the attention which a function calls never gets.

    It is named after another parameter (``memory_mask``), whose scores are left bare; or it is the only one, and what
    is called takes one mask, under whatever name, and is given none.
    """
    g = graph(trace)
    stem = re.sub(r"_(pad|padding|key_padding|attn|attention)?_?masks?$", "", parameter.name)
    named = stem in {p.name for p in function.parameters} & function.contents.reads
    alone = not named and len(_masks_of(function)) == 1
    takes = _take_one(trace) if alone else {}
    for softmax in _bare(trace, g, function):
        users = [user for user, _ in followed(g, softmax) if user.short in PRODUCTS]
        if named and any(_reads(g, user, stem) for user in users):
            return Unpassed(softmax.event, f" of `{stem}`")
        if users and any(
            inner in takes and not span.path and not _is_given(function, span, *takes[inner])
            for inner, span in _called_by(softmax, function)
        ):
            return Unpassed(softmax.event)
    return None


def maskless_call(trace: Trace, function: Function) -> Span | None:
    """The call of an attention of the author's that takes a mask and is given none."""
    takes = {s.name for s in trace.written.functions if any(MASK.search(p.name) for p in s.parameters)}
    for softmax in softmaxes(trace):
        for inner, span in _called_by(softmax, function):
            if inner in takes and not span.path:
                return span
    return None


def _masks_of(function: Function) -> list[Parameter]:
    return [p for p in function.parameters if MASK.search(p.name)]


def _take_one(trace: Trace) -> dict[str, tuple[str, int]]:
    """The functions that take one mask and make use of it: what it is called, and how many parameters are before it."""
    found = {}
    for function in trace.written.functions:
        masks = _masks_of(function)
        if len(masks) == 1 and masks[0].name in function.contents.reads:
            named = [p.name for p in function.parameters if p.name != "self"]
            found[function.name] = masks[0].name, named.index(masks[0].name)
    return found


def _is_given(function: Function, span: Span, name: str, place: int) -> bool:
    """Whether a call that a function makes gives an argument, by its name or its place, or may."""
    call = next((c for c in function.contents.calls if c.span == span), None)
    return call is None or call.open or len(call.arguments) > place or name in call.keywords


def _called_by(softmax: Softmax, function: Function) -> Iterator[tuple[str, Span]]:
    """What a function calls on the way to a softmax, and where."""
    for outer, inner in pairwise(softmax.event.calls):
        if outer.function == function.name:
            yield inner.function, inner.span


def _bare(trace: Trace, g: Graph, function: Function) -> Iterator[Softmax]:
    """The softmaxes behind calls of a function, of scores that nothing masks."""
    masked = {s.event.index for s in mask_sinks(trace) if s.how in ("fill", "where")}
    for softmax in softmaxes(trace):
        if all(c.function != function.name for c in softmax.event.calls):
            continue
        made = g.producer(softmax.scores.value)
        chain = g.back(made, lambda e: e.short in KEEPS) if made is not None else ()
        if not any(e.index in masked or e.short == "masked_fill" for e in chain):
            yield softmax


def _reads(g: Graph, event: Event, name: str) -> bool:
    """Whether an argument of this name goes into an event, its layout changed at most."""
    for current in g.back(event, lambda e: e is event or e.short in SHAPING):
        for operand in tensor_operands(current):
            value = operand.value
            if isinstance(value, Tensor) and value.event < 0 and value.source == name:
                return True
    return False
