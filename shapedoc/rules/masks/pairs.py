"""Masks that contradict each other or themselves: filled and emptied again, all true, taken for both by turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Float, Int, NoneValue, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.fills import truth_number
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, graph, tensors_in
from shapedoc.rules.reading.masks import Sign
from shapedoc.rules.reading.sinks import Sink, is_lowest, mask_sinks

__all__ = ["Both", "Opposed", "Refilled", "both_ways", "full", "inverted_numbers", "opposed", "refilled", "roots"]

_CASTS = names("float double half long int bool type to astype byte short type_as bfloat16 clone detach array tensor")
_LAYOUT = SHAPING | _CASTS | names("all any amax amin reduce cat")
_NOT = names("invert logical_not bitwise_not")
_BOTH = names("and_ logical_and mul")
_ONES = names("ones ones_like new_ones")
_WRITES = names("zero_ fill_ zero fill setitem")
_SOFTMAX = names("softmax Softmax.forward")
_FILLED = names("full full_like new_full")


# -- filled and emptied again


@dataclass(frozen=True, slots=True)
class Refilled:
    """A mask's elements get a hugely negative number, and the very same ones get 0 after it."""

    first: Event
    second: Event
    mask: Operand


def refilled(trace: Trace) -> Iterator[Refilled]:
    """``x.masked_fill(m, -100).masked_fill(m, 0)``, one for each place."""
    g = graph(trace)
    seen = set()
    for event in trace.events:
        if event.short != "masked_fill" or event.span in seen or truth_number(event.value("value")) != 0:
            continue
        first, mask = g.producer(event.value("input")), event.operand("mask")
        if first is None or first.short != "masked_fill" or mask is None:
            continue
        if _hides(g, first.operand("value")) and _alike(g, mask.value, first.value("mask")):
            seen.add(event.span)
            yield Refilled(first, event, mask)


def _hides(g: Graph, operand: Operand | None) -> bool:
    """Whether a number is put where nothing is to be seen: hugely negative, or -100 as where windows are shifted.

    Source: Liu et al. 2021, Swin Transformer, the masks of shifted windows.
    """
    number = truth_number(operand.value) if operand is not None else None
    return is_lowest(g, operand) or (number is not None and number <= -50)


def _alike(g: Graph, one: Value | None, other: Value | None, depth: int = 4) -> bool:
    """Whether two values are the same, or made in the same way of the same ones."""
    match one, other:
        case Tensor(), Tensor():
            if one is other:
                return True
            a, b = g.producer(one), g.producer(other)
            if a is None or b is None or a is b:
                return a is b and (a is not None or one.uid == other.uid)
            if depth == 0 or a.short != b.short or len(a.operands) != len(b.operands):
                return False
            pairs = zip(a.operands, b.operands, strict=True)
            return all(_alike(g, x.value, y.value, depth - 1) for x, y in pairs)
        case ((Int() | Float() | Bool()), (Int() | Float() | Bool())):
            return one == other
        case NoneValue(), NoneValue():
            return True
        case Seq(), Seq():
            return len(one.items) == len(other.items) and all(
                _alike(g, x, y, depth - 1) for x, y in zip(one.items, other.items, strict=True)
            )
    return False


# -- all true


def full(trace: Trace, value: Value | None) -> tuple[Event, bool] | None:
    """What filled a mask with one truth value, and which; padding may have been put beside it."""
    g = graph(trace)
    event, turned = g.producer(value), False
    for _ in range(60):
        if event is None:
            return None
        if event.short in _ONES:
            return event, not turned
        if event.short in _FILLED:
            number = truth_number(event.value("fill_value"))
            return (event, (number == 1) != turned) if number in (0, 1) else None
        if event.short in _NOT:
            turned = not turned
        elif event.short == "pad_sequence":
            return _padded(g, event, turned)
        elif event.short == "phi" or event.short not in _LAYOUT | _BOTH | {"pad"}:
            return None
        elif event.short == "cat":
            return _joined(trace, [event.value("tensors")], turned)
        elif event.short in _BOTH:
            return _joined(trace, [o.value for o in event.operands if isinstance(o.value, Tensor)], turned)
        event = g.main_source(event)
    return None


def _padded(g: Graph, event: Event, turned: bool) -> tuple[Event, bool] | None:
    """Rows of ones, one for each example, with zeros where they end."""
    value = truth_number(event.value("padding_value"))
    sources = [e for o in event.operands for e in g.producers(o.value)]
    if not sources or value not in (None, 0.0) or any(e.short not in _ONES for e in sources):
        return None
    return event, not turned


def _joined(trace: Trace, values: list[Value | None], turned: bool) -> tuple[Event, bool] | None:
    """Several masks that are all filled with one truth value."""
    found = [full(trace, t) for value in values for t in tensors_in(value)]
    first = found[0] if found else None
    if first is None or any(f is None or f[1] != first[1] for f in found):
        return None
    return first[0], first[1] != turned


# -- bytes


def inverted_numbers(trace: Trace) -> Iterator[tuple[Event, Event]]:
    """``~`` of a mask of whole numbers, and where it masks: ``~0`` is -1 or 255, ``~1`` is -2 or 254, both true."""
    g = graph(trace)
    seen = set()
    for event in trace.events:
        given = event.operands[0].value if event.operands else None
        if event.short not in _NOT - {"logical_not"} or not isinstance(given, Tensor):
            continue
        if given.kind != "int" and not (given.kind == "" and _is_bytes(g, given)):
            continue
        for user in g.forward(event, lambda e: e.short in SHAPING):
            mask = user.operand("mask") or user.operand("condition") or next(iter(user.operands), None)
            masks = user.short in ("masked_fill", "where") and mask is not None and event in _behind(g, mask.value)
            if masks and event.span not in seen:
                seen.add(event.span)
                yield event, user


def _is_bytes(g: Graph, tensor: Tensor) -> bool:
    """Whether a tensor was made one of bytes, its elements written anew at most."""
    made = g.producer(tensor)
    for _ in range(20):
        if made is None or made.short not in SHAPING | _WRITES:
            break
        made = g.main_source(made)
    return made is not None and made.short in ("byte", "ByteTensor")


def _behind(g: Graph, value: Value) -> list[Event]:
    made = g.producer(value)
    return list(g.back(made, lambda e: e.short in SHAPING)) if made is not None else []


# -- taken for both by turns


@dataclass(frozen=True, slots=True)
class Opposed:
    """One mask that two places take for opposite things: `wrong` is the one that the code can choose."""

    wrong: Sink
    right: Sink


def opposed(trace: Trace) -> Iterator[Opposed]:
    """A parameter that one branch fills with -inf where it is true, and another one gives to torch to be kept.

    Two places count only where they stand for each other: in two branches of one function, or in two walks of one.
    """
    g = graph(trace)
    found: dict[tuple[str, str], list[tuple[int, Sink, Sign]]] = {}
    for number, (name, start, stop, _) in enumerate(trace.entries):
        for sink in mask_sinks(trace):
            if start <= sink.event.index < stop and sink.how in ("fill", "fused", "where"):
                for root, sign in roots(g, sink.mask.value, sink.expects):
                    found.setdefault((name, root), []).append((number, sink, sign))
    for places in found.values():
        yield from _contradictions(places)


def _contradictions(places: list[tuple[int, Sink, Sign]]) -> Iterator[Opposed]:
    for number, sink, sign in places:
        if sink.how == "fused":
            continue
        for other_number, other, other_sign in places:
            if other.how == "fused" and other_sign != sign and _instead(number, sink, other_number, other):
                yield Opposed(sink, other)
                return


@dataclass(frozen=True, slots=True)
class Both:
    """One mask that hides what is true before a softmax, and keeps what is true after it, or the reverse."""

    before: Sink
    after: Sink


def both_ways(trace: Trace) -> Iterator[Both]:
    """Weights that are multiplied with the very mask that their scores were filled by, one for each place."""
    g = graph(trace)
    sinks = mask_sinks(trace)
    seen = set()
    for after in sinks:
        weights = g.producer(after.scores.value) if after.how == "weights" and after.scores is not None else None
        if weights is None or after.event.span in seen or not (taken := set(roots(g, after.mask.value, "keep"))):
            continue
        behind = {e.index for e in g.back(weights, lambda e: e.short in KEEPS or e.short in _SOFTMAX)}
        for before in sinks:
            if before.how not in ("fill", "where", "add") or before.event.index not in behind:
                continue
            against = {(root, "keep" if sign == "drop" else "drop") for root, sign in _roots_of(g, before)}
            if taken & against:
                seen.add(after.event.span)
                yield Both(before, after)
                break


def _roots_of(g: Graph, sink: Sink) -> Iterator[tuple[str, Sign]]:
    """The parameters that scores are masked by; an additive mask is a hugely negative number times one."""
    made = g.producer(sink.mask.value)
    if sink.how != "add":
        yield from roots(g, sink.mask.value, sink.expects)
    elif made is not None and made.short == "mul" and any(is_lowest(g, o) for o in made.operands):
        for operand in made.operands:
            yield from roots(g, operand.value, "drop")


def _instead(number: int, one: Sink, other_number: int, other: Sink) -> bool:
    if number != other_number:
        return True
    a, b = one.event.branch, other.event.branch
    return bool(a) and bool(b) and a[: len(b)] != b and b[: len(a)] != a


def roots(g: Graph, value: Value | None, sign: Sign, depth: int = 30) -> Iterator[tuple[str, Sign]]:
    """The parameters that a mask is, and what their true elements are taken for."""
    if not isinstance(value, Tensor) or depth == 0:
        return
    event = g.producer(value)
    if event is None:
        if value.source:
            yield value.source, sign
        return
    if event.short in _NOT:
        sign = "drop" if sign == "keep" else "keep"
    elif event.short in ("eq", "ne"):
        number = next((truth_number(o.value) for o in event.operands if not isinstance(o.value, Tensor)), None)
        if number != 0:
            return
        if event.short == "eq":
            sign = "drop" if sign == "keep" else "keep"
    elif event.short in ("and_", "logical_and"):
        if sign != "keep":
            return
    elif event.short in ("or_", "logical_or"):
        if sign != "drop":
            return
    elif event.short == "sub" and truth_number(event.operands[0].value) == 1:
        sign = "drop" if sign == "keep" else "keep"
    elif event.short not in SHAPING | _CASTS:
        return
    for operand in event.operands:
        if operand.name not in ("options", "index"):
            yield from roots(g, operand.value, sign, depth - 1)
