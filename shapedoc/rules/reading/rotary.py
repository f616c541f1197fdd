"""Rotary embeddings: where a vector is turned by the sine and the cosine of its position, and how the two are laid out.

Source: Su et al. 2021, RoFormer, equations 13 and 34.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Seq, SliceValue
from shapedoc.rules.reading.contractions import PRODUCTS, contraction, literal, names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, axis_at, graph, shape_at

__all__ = [
    "Rotation",
    "attended",
    "compared_with",
    "laid_out",
    "pairs_of_angles",
    "pairs_of_vector",
    "rotation_of",
    "rotations",
]

Pairs = Literal["neighbours", "halves", ""]

_WAVES = names("cos sin")
_LAYOUTS = SHAPING - {"phi"}
_BEFORE = _LAYOUTS | names("cat neg mul div outer einsum pow add sub exp matmul float double rsub rdiv reciprocal")
_SUMS = names("add sub")
_TURNED = _LAYOUTS | names("add sub cat concat float type_as to")


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """A vector times the cosine or the sine of angles, one of the two terms of a rotation.

    wave: the cosine or sine. table, vector: the two factors. counted: the `arange` that counts positions, if it is
    seen; place: where the axis of the positions stands in the table, from the right.
    """

    event: Event
    wave: Event
    table: Operand
    vector: Operand
    counted: Event | None
    place: int | None

    @property
    def turned(self) -> Axis | None:
        """The axis of the vector that the angles run along."""
        return axis_at(shape_at(self.event, self.vector), self.place) if self.place is not None else None


@lru_cache(maxsize=2)
def rotations(trace: Trace) -> dict[int, Rotation]:
    """Every such product, by its event."""
    g = graph(trace)
    found = {e.index: r for e in trace.events if e.short == "mul" and (r := _rotation(g, e)) is not None}
    return {index: r for index, r in found.items() if _has_partner(g, r, found)}


def rotation_of(trace: Trace, event: Event) -> Rotation | None:
    """The rotation that an event is a term of."""
    return rotations(trace).get(event.index)


def _rotation(g: Graph, event: Event) -> Rotation | None:
    operands = tensor_operands(event)
    if len(operands) != 2:
        return None
    waves = [_wave(g, operand) for operand in operands]
    if (waves[0] is None) == (waves[1] is None):
        return None
    table, vector = operands if waves[0] is not None else operands[::-1]
    wave = waves[0] or waves[1]
    counted = _counted(g, wave) if wave is not None else None
    if wave is None or counted is None:
        return None
    positions = next((e for e in counted if not _strides(e)), None)
    place = _place(shape_at(event, table), positions) if positions is not None else None
    return Rotation(event, wave, table, vector, positions, place)


def _wave(g: Graph, operand: Operand) -> Event | None:
    """The cosine or sine that an operand is, laid out and joined with itself at most."""
    event = g.producer(operand.value)
    made = g.origin(event, _LAYOUTS | {"cat", "concat"}) if event is not None else None
    return made if made is not None and made.short in _WAVES else None


def _counted(g: Graph, wave: Event) -> list[Event] | None:
    """The ranges that the angles are made of; None where something else goes in."""
    source = g.main_source(wave)
    if source is None:
        return None
    behind = list(g.back(source, lambda e: e.short in _BEFORE))
    found = [e for e in behind if e.short == "arange"]
    return found or None


def _strides(event: Event) -> bool:
    """Whether a range counts by twos, as the frequencies of pairs do."""
    limits = event.value("limits")
    items = limits.items if isinstance(limits, Seq) else ()
    return len(items) > 2 and literal(items[2]) != 1


def _place(shape: Shape | None, counted: Event) -> int | None:
    if shape is None or counted.shape is None or len(counted.shape.axes) != 1:
        return None
    ours = counted.shape.axes[0]
    found = [i - len(shape.suffix) for i, axis in enumerate(shape.suffix) if axis.same(ours)]
    return found[0] if len(found) == 1 else None


def _has_partner(g: Graph, rotation: Rotation, others: dict[int, Rotation]) -> bool:
    """Whether the other function of the angles is added to it or taken from it."""
    for user in g.forward(rotation.event, lambda e: e.short in _LAYOUTS):
        for operand in tensor_operands(user) if user.short in _SUMS else ():
            made = g.producer(operand.value)
            other = others.get(g.origin(made, _LAYOUTS).index) if made is not None else None
            if other is not None and other.wave.short != rotation.wave.short:
                return True
    return False


def laid_out(g: Graph, rotation: Rotation) -> Event:
    """The last event that laid out the cosine or sine, in a function that is not given it: else the function itself."""
    made = g.producer(rotation.table.value)
    return made if made is not None and made.short in _LAYOUTS and not made.span.path else rotation.wave


def attended(g: Graph, rotation: Rotation) -> Axis | None:
    """The axis along which the turned vectors are compared with others: queries or keys of a product."""
    found = _compared(g, rotation)
    if found is None:
        return None
    user, ours = found
    if user.short == "scaled_dot_product_attention":
        return axis_at(shape_at(user, ours), -2)
    product = contraction(user, ours)
    return product.kept[-1] if product is not None and product.kept else None


def compared_with(g: Graph, rotation: Rotation) -> Operand | None:
    """What the turned vectors are multiplied with: the keys, seen from queries."""
    found = _compared(g, rotation)
    if found is None:
        return None
    user, ours = found
    if user.short == "scaled_dot_product_attention":
        return user.operand("key") if ours.name == "query" else user.operand("query")
    return next((o for o in tensor_operands(user) if o is not ours), None)


def _compared(g: Graph, rotation: Rotation) -> tuple[Event, Operand] | None:
    """The product that the turned vectors go into, and the operand that they are."""
    seen: list[Event] = [rotation.event]
    for user in g.forward(rotation.event, lambda e: e.short in _TURNED):
        operands: list[Operand] = []
        if user.short in PRODUCTS and user.short != "einsum":
            operands = tensor_operands(user)
        elif user.short == "scaled_dot_product_attention":
            operands = [o for o in (user.operand("query"), user.operand("key")) if o is not None]
        for operand in operands:
            if g.producer(operand.value) in seen:
                return user, operand
        seen.append(user)
    return None


def pairs_of_angles(g: Graph, rotation: Rotation) -> tuple[Pairs, Event | None]:
    """Which features share an angle: neighbours or those half the width apart, and the event that says so."""
    event = g.producer(rotation.table.value)
    for _ in range(60):
        if event is None:
            return "", None
        if event.short == "repeat_interleave":
            return "neighbours", event
        if event.short == "cat" and _joins_itself(event):
            return "halves", event
        source = g.main_source(event)
        if event.short in ("flatten", "reshape", "view") and source is not None and source.short == "stack":
            return ("neighbours", event) if _is_last(source) else ("", None)
        if event.short not in _LAYOUTS | _WAVES:
            return "", None
        event = source
    return "", None


def _joins_itself(event: Event) -> bool:
    parts = [o.value for o in tensor_operands(event)]
    return len(parts) == 2 and parts[0] is parts[1]


def _is_last(event: Event) -> bool:
    return literal(event.value("dim")) == -1


def pairs_of_vector(g: Graph, rotation: Rotation) -> Pairs:
    """Which features are turned together, read from the vector whose one half is negated; "" where it is not."""
    event = g.producer(rotation.vector.value)
    if event is not None and event.short in ("flatten", "reshape", "view"):
        inner = g.main_source(event)
        if inner is not None and inner.short == "stack" and _is_last(inner) and _negated(g, inner):
            return "neighbours" if all(_every_other(e) for e in _cuts(g, inner)) else ""
    if event is not None and event.short == "cat" and _negated(g, event):
        cuts = list(_cuts(g, event))
        return "halves" if cuts and not any(_every_other(e) for e in cuts) else ""
    return ""


def _negated(g: Graph, event: Event) -> bool:
    made = [g.producer(o.value) for o in tensor_operands(event)]
    return len(made) == 2 and sum(e is not None and e.short == "neg" for e in made) == 1


def _cuts(g: Graph, event: Event) -> Iterator[Event]:
    """The events that cut the two parts out of the vector."""
    for operand in tensor_operands(event):
        made = g.producer(operand.value)
        made = g.main_source(made) if made is not None and made.short == "neg" else made
        if made is not None and made.short in ("chunk", "split", "getitem", "unbind"):
            yield made


def _every_other(event: Event) -> bool:
    index = event.value("index")
    parts = index.items if isinstance(index, Seq) else (index,)
    return (
        any(isinstance(p, SliceValue) and isinstance(p.step, Int) and p.step.value == 2 for p in parts)
        or event.short == "unbind"
    )
