"""What a mask means: whether its true elements are kept or dropped, read from how it is built and never from its name.

Truth begins at a comparison (`tokens != pad`, `arange < lengths`, `rows >= columns`) or at a triangle (`tril`, `triu`)
and is handed on by layouts, casts and slices, turned round by `~`, `== 0` and `1 - mask`, and combined by `&` and `|`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Shape
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, NoneValue, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import literal, names
from shapedoc.rules.reading.fills import is_huge, number_of, truth_number
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.tokens import is_padding, is_tokens

__all__ = ["Masks", "Meaning", "Sign", "Triangle", "masks"]

Sign = Literal["keep", "drop"]
_Kind = Literal["padding", "causal", "both"]

_CASTS = names("float double half long int bool type to astype byte short type_as bfloat16 clone detach array tensor")
_LAYOUT = SHAPING | _CASTS
_TURNS = names("transpose t T mT permute swapaxes swapdims movedim rearrange")
_COMPARES = {"lt": "<", "less": "<", "le": "<=", "less_equal": "<=", "gt": ">", "greater": ">", "ge": ">=",
             "greater_equal": ">=", "eq": "==", "equal": "==", "ne": "!=", "not_equal": "!="}  # fmt: skip
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
# Comparisons of a mask of ones and zeros that hold of its ones, and of its zeros.
_ONES = {("==", 1), ("!=", 0), (">", 0), (">", 0.5), (">=", 1), (">=", 0.5)}
_ZEROS = {("==", 0), ("!=", 1), ("<", 1), ("<", 0.5), ("<=", 0), ("<=", 0.5)}
_NOT = names("invert logical_not bitwise_not")
_AND = names("and_ logical_and bitwise_and mul __and__")
_OR = names("or_ logical_or bitwise_or add __or__ maximum")
_TRUTHS = names("and_ logical_and or_ logical_or")
_CONSTANT = names("ones full ones_like full_like new_ones new_full")


@dataclass(frozen=True, slots=True)
class Triangle:
    """The region where a mask is true: on and below the diagonal `offset` ("lower"), or on and above it ("upper")."""

    side: Literal["lower", "upper"]
    offset: int

    def complement(self) -> Triangle:
        """Where it is not true."""
        if self.side == "lower":
            return Triangle("upper", self.offset + 1)
        return Triangle("lower", self.offset - 1)

    def transposed(self) -> Triangle:
        """The region of the mask with rows and columns exchanged."""
        return Triangle("upper" if self.side == "lower" else "lower", -self.offset)

    @property
    def sign(self) -> Sign:
        """What such a mask says of its true elements: the past is kept, the future dropped."""
        return "keep" if self.side == "lower" else "drop"


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What a mask's true (or non-zero) elements stand for.

    sign: they are kept or dropped. made: the event that decided it. kind: over what it decides. additive: its
    elements are 0 or hugely negative, to be added. triangle: the region, for a causal mask that is nothing else.
    """

    sign: Sign
    made: Event
    kind: _Kind
    additive: bool = False
    triangle: Triangle | None = None

    def turned(self) -> Meaning:
        """The meaning of the mask's negation."""
        triangle = self.triangle.complement() if self.triangle is not None else None
        return replace(self, sign="drop" if self.sign == "keep" else "keep", triangle=triangle)


class Masks:
    """The meanings of a trace's masks, each worked out once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.graph: Graph = graph(trace)
        self._known: dict[int, Meaning | None] = {}

    def of(self, value: Value | None) -> Meaning | None:
        """What a mask means; None where its construction is not known."""
        event = self.graph.producer(value)
        return self.made(event) if event is not None else None

    def made(self, event: Event) -> Meaning | None:
        """What the mask that an event made means."""
        if event.index not in self._known:
            self._known[event.index] = None
            self._known[event.index] = self._read(event)
        return self._known[event.index]

    def _read(self, event: Event) -> Meaning | None:
        short = event.short
        if short in _COMPARES:
            return self._compared(event, _COMPARES[short])
        if short in ("tril", "triu", "tri"):
            return self._triangle(event)
        if short in ("tril_indices", "triu_indices"):
            return self._indices(event)
        if short in _NOT:
            found = self.of(_operand(event, 0))
            return found.turned() if found is not None else None
        if short in ("sub", "rsub"):
            return self._difference(event)
        if short in _AND or short in _OR:
            return self._combined(event)
        if short in ("masked_fill", "where"):
            return self._filled(event)
        if short == "phi":
            return self._agreed(event)
        if short == "pad":
            return self._lengthened(event)
        if short in _LAYOUT:
            return self._laid_out(event)
        return None

    # -- where truth begins

    def _compared(self, event: Event, sign: str) -> Meaning | None:
        left, right = _sides(event)
        if left is None or right is None:
            return None
        number = truth_number(right.value)
        if number is not None and isinstance(left.value, Tensor):
            return self._with_number(event, left, right, sign, number)
        flipped = truth_number(left.value)
        if flipped is not None and isinstance(right.value, Tensor):
            return self._with_number(event, right, left, _MIRROR[sign], flipped)
        return self._with_tensor(event, left, right, sign)

    def _with_number(self, event: Event, mask: Operand, other: Operand, sign: str, number: float) -> Meaning | None:
        found = self.of(mask.value)
        if found is not None:
            if found.additive:
                # What is not 0 is hugely negative.
                return replace(found, additive=False) if (sign, number) in (("!=", 0), ("<", 0)) else None
            true = (sign, number) in _ONES
            return found if true else found.turned() if (sign, number) in _ZEROS else None
        return self._padding(event, mask, other, sign, number)

    def _padding(self, event: Event, mask: Operand, other: Operand, sign: str, number: float) -> Meaning | None:
        """Tokens against the padding index."""
        named = self._is_named_pad(other)
        named = named or is_padding(self.trace, event, mask.value, number)
        if not named and (number != 0 or not is_tokens(self.trace, event, mask.value)):
            return None
        if sign == "!=" or (sign == ">" and number == 0):
            return Meaning("keep", event, "padding")
        return Meaning("drop", event, "padding") if sign == "==" else None

    def _is_named_pad(self, other: Operand) -> bool:
        text = other.text or (self.trace.source(other.span) if other.span is not None else "")
        return "pad" in text.lower() and "padding_mask" not in text.lower()

    def _with_tensor(self, event: Event, left: Operand, right: Operand, sign: str) -> Meaning | None:
        one, two = self._counts(left), self._counts(right)
        if one and two:
            return self._rows_and_columns(event, left, right, sign)
        if not one and not two:
            if sign in ("==", "!=") and self._is_named_pad(right) and isinstance(left.value, Tensor):
                return Meaning("keep" if sign == "!=" else "drop", event, "padding")
            return None
        if two:
            left, right, sign = right, left, _MIRROR[sign]
        if not isinstance(right.value, Tensor) or sign in ("==", "!=") or self._of_positions(right):
            return None
        return Meaning("keep" if sign in ("<", "<=") else "drop", event, "padding")

    def _counts(self, operand: Operand) -> bool:
        """Whether an operand counts positions: an `arange`, its layout changed at most."""
        event = self.graph.producer(operand.value)
        return event is not None and self.graph.origin(event, _LAYOUT).short == "arange"

    def _of_positions(self, operand: Operand) -> bool:
        """Whether an operand is worked out from positions: the edge of a window, and no length."""
        event = self.graph.producer(operand.value)
        return event is not None and any(e.short == "arange" for e in self.graph.back(event, lambda _: True))

    def _rows_and_columns(self, event: Event, left: Operand, right: Operand, sign: str) -> Meaning | None:
        first, second = _runs_along(event, left), _runs_along(event, right)
        if first == -1 and second == -2:
            sign = _MIRROR[sign]
        elif (first, second) != (-2, -1):
            return None
        region = {
            ">=": Triangle("lower", 0),
            ">": Triangle("lower", -1),
            "<": Triangle("upper", 1),
            "<=": Triangle("upper", 0),
        }.get(sign)
        return Meaning(region.sign, event, "causal", triangle=region) if region is not None else None

    def _triangle(self, event: Event) -> Meaning | None:
        diagonal = event.value("k" if event.short == "tri" else "diagonal")
        offset = 0 if diagonal is None or isinstance(diagonal, NoneValue) else literal(diagonal)
        if offset is None:
            return None
        region = Triangle("upper" if event.short == "triu" else "lower", offset)
        if event.short == "tri":
            return Meaning(region.sign, event, "causal", triangle=region)
        base = self.graph.producer(event.value("input"))
        if base is None:
            return None
        filled = self.graph.origin(base, _LAYOUT)
        value = _filling(filled)
        if value is None or value == 0:
            return None
        if is_huge(value):
            return Meaning("drop", event, "causal", additive=True, triangle=region) if value < 0 else None
        return Meaning(region.sign, event, "causal", triangle=region)

    def _indices(self, event: Event) -> Meaning | None:
        """The places of a triangle's elements."""
        given = event.value("offset") or event.value("k")
        offset = 0 if given is None or isinstance(given, NoneValue) else literal(given)
        if offset is None:
            return None
        region = Triangle("upper" if event.short == "triu_indices" else "lower", offset)
        return Meaning(region.sign, event, "causal", triangle=region)

    # -- what hands it on

    def _difference(self, event: Event) -> Meaning | None:
        left, right = _sides(event)
        if left is None or right is None:
            return None
        mask, number = (right, left) if number_of(left.value) is not None else (left, right)
        value = number_of(number.value)
        found = self.of(mask.value)
        return found.turned() if found is not None and value in (1.0, -1.0) and not found.additive else None

    def _combined(self, event: Event) -> Meaning | None:
        left, right = _sides(event)
        if left is None or right is None:
            return None
        for mask, number in ((left, right), (right, left)):
            value = number_of(number.value)
            if value is not None:
                return self._scaled(event, mask, value)
        one, two = self.of(left.value), self.of(right.value)
        if (one is None) != (two is None) and event.short in _TRUTHS:
            # What is joined with a mask of what to keep by `&` says what to keep too.
            known = one or two
            fits = known is not None and known.sign == ("keep" if event.short in _AND else "drop")
            return replace(known, triangle=None) if fits and known is not None and not known.additive else None
        if one is None or two is None or one.sign != two.sign or one.additive != two.additive:
            return None
        if one.additive:
            return replace(one, kind=_both(one, two), triangle=None) if event.short == "add" else None
        if one.sign != ("keep" if event.short in _AND else "drop"):
            return None
        return Meaning(one.sign, one.made if one.kind == "padding" else two.made, _both(one, two))

    def _scaled(self, event: Event, mask: Operand, number: float) -> Meaning | None:
        """A mask of ones and zeros times a hugely negative number is one that is added."""
        found = self.of(mask.value)
        if found is None or event.short != "mul" or found.additive:
            return found if event.short == "mul" and number > 0 else None
        return replace(found, additive=True) if is_huge(number) and number < 0 else None

    def _filled(self, event: Event) -> Meaning | None:
        """Zeros with a hugely negative number where a mask is true, or the reverse."""
        mask = event.operand("mask" if event.short == "masked_fill" else "condition")
        found = self.of(mask.value) if mask is not None else None
        if event.short == "masked_fill":
            return self._filled_once(event, found)
        there, elsewhere = number_of(event.value("input")), number_of(event.value("other"))
        if found is None or there is None or elsewhere is None:
            return None
        if there == 0 and is_huge(elsewhere):
            turned = found.turned()
            return replace(turned, additive=True)
        if elsewhere == 0 and is_huge(there):
            return replace(found, additive=True)
        return found if there == 1 and elsewhere == 0 else found.turned() if there == 0 and elsewhere == 1 else None

    def _filled_once(self, event: Event, found: Meaning | None) -> Meaning | None:
        base = self.graph.producer(event.value("input"))
        value = number_of(event.value("value"))
        if base is None or value is None:
            return None
        before = self.made(base)
        if before is not None and is_huge(value) and not before.additive:
            # A mask of ones and zeros whose one sort of elements becomes hugely negative.
            return replace(found, additive=True) if found is not None and found.made is before.made else None
        if before is not None and before.additive and value == 0:
            return before
        filled = _filling(self.graph.origin(base, _LAYOUT))
        if found is not None and filled == 0 and is_huge(value):
            return replace(found, additive=True)
        return None

    def _lengthened(self, event: Event) -> Meaning | None:
        """A mask with more elements; ``pad(mask, (1, 0), value=True)`` adds a first one, which is to be seen."""
        found = self.of(_operand(event, 0))
        value, sizes = event.value("value"), event.value("pad")
        if found is not None:
            return None if found.additive else replace(found, triangle=None)
        if (
            not isinstance(value, Bool)
            or value.value is not True
            or not isinstance(sizes, Seq)
            or sizes.rest is not None
        ):
            return None
        before, *rest = [number_of(size) for size in sizes.items] or [0.0]
        return Meaning("keep", event, "padding") if before != 0 and rest and all(n == 0 for n in rest) else None

    def _agreed(self, event: Event) -> Meaning | None:
        found = [self.made(source) for source in self.graph.inputs(event)]
        first = found[0] if found else None
        if first is None or any(f is None or f.sign != first.sign or f.additive != first.additive for f in found):
            return None
        one = all(f is not None and f.triangle == first.triangle for f in found)
        return first if one else replace(first, triangle=None)  # the author chooses between two

    def _laid_out(self, event: Event) -> Meaning | None:
        found = self.of(_operand(event, 0))
        if found is None or found.triangle is None or event.short not in _TURNS:
            return found
        before, after = _shape_in(event), result_shape(event)
        if before is None or after is None or len(before.suffix) < 2 or len(after.suffix) < 2:
            return None
        rows, columns, last = before.suffix[-2], before.suffix[-1], after.suffix[-1]
        if last.ids >= columns.ids:
            return found
        if not last.ids >= rows.ids:
            return None
        turned = found.triangle.transposed()
        return replace(found, triangle=turned, sign=turned.sign if not found.additive else found.sign)


def _both(one: Meaning, two: Meaning) -> _Kind:
    return one.kind if one.kind == two.kind else "both"


@lru_cache(maxsize=2)
def masks(trace: Trace) -> Masks:
    """The masks of a trace."""
    return Masks(trace)


def _filling(event: Event) -> float | None:
    """The number that an event filled a tensor with."""
    if event.short in ("zeros", "zeros_like", "new_zeros"):
        return 0.0
    if event.short in ("ones", "ones_like", "new_ones"):
        return 1.0
    if event.short in _CONSTANT:
        return truth_number(event.value("fill_value"))
    return None


def _operand(event: Event, index: int) -> Value | None:
    values = [o.value for o in event.operands if isinstance(o.value, Tensor)]
    return values[index] if index < len(values) else None


def _shape_in(event: Event) -> Shape | None:
    return next((shape_at(event, o) for o in event.operands if isinstance(o.value, Tensor)), None)


def _sides(event: Event) -> tuple[Operand | None, Operand | None]:
    sides = [o for o in event.operands if o.name not in ("out", "options", "settings", "alpha")]
    return (sides[0], sides[1]) if len(sides) >= 2 else (None, None)


def _runs_along(event: Event, operand: Operand) -> int | None:
    """The axis, counted from the right, along which an operand with one real axis varies."""
    shape = shape_at(event, operand)
    if shape is None or shape.rank is None:
        return None
    real = [i - shape.rank for i, a in enumerate(shape.axes) if a.dim != ONE]
    return real[0] if len(real) == 1 else None
