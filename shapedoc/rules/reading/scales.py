"""How scores are scaled: every number between the projections and the softmax, and the roots of sizes in it.

A scale is a coefficient times powers of sizes: ``1 / math.sqrt(d_k)`` is d_k to the power -1/2. What cannot be
followed makes the whole scale unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from shapedoc.core.dim import Dim
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Event, Operand
from shapedoc.core.value import Float, Int, Layer, Seq, Tensor, Value
from shapedoc.rules.reading.contractions import PRODUCTS, Contraction, contraction, names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, shape_at

__all__ = ["Factor", "Scaled", "Side", "is_of_heads", "number_in", "scaled_scores", "side", "total"]

_HALF = Fraction(1, 2)
_MASKS = names("masked_fill where masked_fill_ dropout Dropout.forward nan_to_num tril triu")
_SIDE = SHAPING | _MASKS | {"add", "sub", "cat", "pad", "view_as_complex", "view_as_real"}
_ANGLES = frozenset(("sin", "cos", "polar", "complex"))
_NORMS = names(
    "normalize LayerNorm.forward layer_norm RMSNorm.forward rms_norm norm rsqrt GroupNorm.forward cosine_similarity"
)


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """One number that scores, queries or keys are multiplied with.

    event: the multiplication or division. sign: -1 for a division. number: the number as a Float; None where it is
    not known. operand: the number in the source.
    """

    event: Event
    sign: int
    number: Float | None
    operand: Operand | None

    def powers(self, sizes: Sizes) -> dict[Dim, Fraction]:
        """The powers of sizes in it, the division counted."""
        found: dict[Dim, Fraction] = {}
        for dim, exponent in self.number.powers if self.number is not None else ():
            resolved = sizes.resolve(dim)
            found[resolved] = found.get(resolved, Fraction(0)) + self.sign * exponent
        return {d: e for d, e in found.items() if e}

    @property
    def coefficient(self) -> float | None:
        """The plain number in it, the division counted."""
        value = self.number.value if self.number is not None else None
        if value is None:
            return None
        if self.sign > 0:
            return value
        return 1 / value if value else None


@dataclass(slots=True, eq=False)
class Side:
    """The way of a query or a key to the product.

    factors: the numbers on it. root: the event it begins at. unknown: something on it may scale. lost: that is where
    it begins, alone. normed: it is normalised on the way. split: its last axis was split, as into heads.
    """

    factors: list[Factor] = field(default_factory=list)
    root: Event | None = None
    unknown: bool = False
    lost: bool = False
    normed: bool = False
    split: bool = False


@dataclass(slots=True, eq=False)
class Scaled:
    """Scores on their way from the product to the softmax.

    product: the product of query and key. factors: every number on the way, and on the ways of its sides. unknown:
    something on the way may scale. lost: what its sides begin with, alone, may. added: what is added to the scores.
    """

    product: Contraction
    factors: list[Factor]
    sides: tuple[Side, ...]
    unknown: bool
    added: list[Operand]
    lost: bool = False


def scaled_scores(g: Graph, scores: Operand) -> Scaled | None:
    """The product that scores come from and the scale they have at the softmax; None where there is no one product."""
    factors: list[Factor] = []
    added: list[Operand] = []
    event = g.producer(scores.value)
    unknown = False
    for _ in range(60):
        if event is None:
            return None
        if event.short in PRODUCTS:
            break
        step = _scaling(g, event)
        if event.short == "phi":
            unknown = unknown or not _agree(g, event)
            event = _longest(g, event)
        elif step is not None:
            factors.append(step[0])
            unknown = unknown or step[0].number is None
            event = step[1]
        elif event.short in ("add", "sub"):
            ours = _score_side(g, event)
            added.extend(o for o in event.operands if o is not ours)
            event = g.producer(ours.value) if ours is not None else None
        elif event.short in SHAPING or event.short in _MASKS or event.short == "setitem":
            event = g.main_source(event)
        else:
            return None
    operands = tensor_operands(event) if event is not None else []
    found = contraction(event, operands[0]) if event is not None and len(operands) == 2 else None
    if found is None or any(isinstance(o.value, Tensor) and o.value.learned for o in operands):
        return None
    if any(_is_wider(g, found, o) for o in added):
        return None
    sides = [side(g, operand) for operand in operands]
    result = Scaled(found, factors, tuple(sides), unknown, added)
    for one in sides:
        result.factors.extend(one.factors)
        result.unknown = result.unknown or one.unknown
    result.lost = result.unknown and not unknown and all(one.lost or not one.unknown for one in sides)
    seen = [f.event.index for f in result.factors]
    # What scales both sides at once, as an embedding's sqrt(d_model), is no scale of the scores.
    result.factors = [f for f in result.factors if seen.count(f.event.index) == 1]
    return result


def _is_wider(g: Graph, product: Contraction, added: Operand) -> bool:
    """Whether what is added to scores is a product over another size: the variance of both together is another one.

    Source: DeepSeek-AI 2024, DeepSeek-V2, equation 18: content and rotary part, scaled by the root of both widths.
    """
    source = g.producer(added.value)
    behind = next((e for e in g.back(source, _passes) if e.short in PRODUCTS), None) if source is not None else None
    operands = tensor_operands(behind) if behind is not None else []
    other = contraction(behind, operands[0]) if behind is not None and len(operands) == 2 else None
    if other is None or other.event.sizes is None:
        return False
    widths = [[other.event.sizes.resolve(a.dim) for a in c.summed] for c in (product, other)]
    return widths[0] != widths[1]


def _scaling(g: Graph, event: Event) -> tuple[Factor, Event | None] | None:
    """A multiplication or division by a number, and the event it scales."""
    if event.short not in ("mul", "div") or len(event.operands) < 2:
        return None
    first, second = event.operands[:2]
    for ours, other in ((first, second), (second, first)):
        if event.short == "div" and ours is second:
            break
        if not isinstance(ours.value, Tensor) or _is_number(ours):
            continue
        if _is_number(other):
            sign = -1 if event.short == "div" else 1
            return Factor(event, sign, number_in(g, other.value), other), g.producer(ours.value)
    scored = _score_side(g, event) if event.short == "mul" else first
    return (Factor(event, 1, None, None), g.producer(scored.value)) if scored is not None else None


def _is_number(operand: Operand) -> bool:
    match operand.value:
        case Tensor():
            return operand.value.shape.rank == 0 or _holds_one(operand.value)
        case Int() | Float():
            return True
    return False


def _holds_one(tensor: Tensor) -> bool:
    """Whether a tensor has one element: ``torch.FloatTensor([d_k])``."""
    return tensor.shape.rank == 1 and tensor.shape.axes[0].dim.const == 1


def number_in(g: Graph, value: Value) -> Float | None:
    """A number, also one in a tensor without axes; None where it is not known."""
    match value:
        case Float():
            return value if value.known and value.value is not None else None
        case Int():
            const = value.dim.const
            if const is not None:
                return Float(float(const), known=True)
            return Float(1.0, ((value.dim, Fraction(1)),), known=True)
        case Seq(items=(one,)):
            return number_in(g, one)
        case Tensor():
            return _in_tensor(g, value)
    return None


def _in_tensor(g: Graph, value: Tensor) -> Float | None:
    event = g.producer(value)
    if event is None or value.learned:
        return None
    if event.short in ("sqrt", "rsqrt"):
        inner = number_in(g, event.operands[0].value) if event.operands else None
        return _power(inner, _HALF if event.short == "sqrt" else -_HALF)
    if event.short in (
        "tensor",
        "as_tensor",
        "FloatTensor",
        "array",
        "asarray",
        "full",
        "to",
        "float",
        "type_as",
        "cuda",
    ):
        for name in ("data", "obj", "object", "fill_value", "a", "input", "0"):
            held = event.value(name)
            if held is not None:
                return number_in(g, held)
        return number_in(g, event.operands[0].value) if event.operands else None
    if event.short in ("reciprocal",):
        return _power(number_in(g, event.operands[0].value), Fraction(-1))
    return None


def _power(number: Float | None, exponent: Fraction) -> Float | None:
    if number is None or number.value is None or number.value <= 0:
        return None
    return Float(number.value ** float(exponent), tuple((d, e * exponent) for d, e in number.powers), known=True)


def _score_side(g: Graph, event: Event) -> Operand | None:
    """The operand of a sum or product of tensors that the scores come in by."""
    for operand in tensor_operands(event):
        source = g.producer(operand.value)
        if source is not None and any(e.short in PRODUCTS for e in g.back(source, _passes)):
            return operand
    return None


def _passes(event: Event) -> bool:
    return event.short in SHAPING | _MASKS | {"mul", "div", "add", "sub", "setitem"}


def _longest(g: Graph, event: Event) -> Event | None:
    """The branch of a join with the most between it and the product."""
    sources = g.inputs(event)
    return max(sources, key=lambda e: e.index) if sources else None


def _agree(g: Graph, event: Event) -> bool:
    """Whether the branches that meet differ in masks at most."""
    return len({frozenset(_scalings(g, source)) for source in g.inputs(event)}) <= 1


def _scalings(g: Graph, event: Event | None) -> Iterator[int]:
    """The multiplications with numbers on the way back from scores to their product; what is added has its own."""
    for _ in range(60):
        if event is None or event.short in PRODUCTS:
            return
        step = _scaling(g, event)
        if step is not None:
            if _numbered(event):
                yield event.index
            event = step[1]
        elif event.short in ("add", "sub"):
            ours = _score_side(g, event)
            event = g.producer(ours.value) if ours is not None else None
        elif event.short == "phi":
            event = _longest(g, event)
        elif _passes(event):
            event = g.main_source(event)
        else:
            return


def _numbered(event: Event) -> bool:
    return any(_is_number(o) for o in event.operands)


def side(g: Graph, operand: Operand) -> Side:
    """Walk back from a side of the product to what it comes from."""
    found = Side()
    event = g.producer(operand.value)
    begin = operand.value
    for _ in range(60):
        if event is None:
            break
        step = _scaling(g, event)
        found.normed = found.normed or event.short in _NORMS or _by_tensor(event, step)
        turned = _turned(g, event) if step is None and event.short == "mul" else None
        if turned is not None:
            begin, event = turned.value, g.producer(turned.value)
            continue
        if step is not None and (step[0].operand is not None or not _turns(g, event)):
            found.factors.append(step[0])
        elif step is None and event.short not in _SIDE:
            break
        found.split = found.split or _splits(event)
        begin = next((o.value for o in tensor_operands(event)), begin)
        event = (step[1] if step is not None else None) or g.main_source(event)
    found.root = event
    lost = bool(event.lost) or event.short in ("mul", "div") if event is not None else not _is_input(begin)
    within = any(f.number is None for f in found.factors)
    found.unknown, found.lost = lost or within, lost and not within
    return found


def _is_input(value: Value) -> bool:
    """Whether a tensor is what a function was given, or a parameter of the model."""
    return isinstance(value, Tensor) and (bool(value.source) or value.learned)


def _by_tensor(event: Event, step: tuple[Factor, Event | None] | None) -> bool:
    """A division by a tensor, as by a norm."""
    return event.short == "div" and step is not None and step[0].number is None


def _turns(g: Graph, event: Event) -> bool:
    """Whether a multiplication is part of a rotary embedding: its other factor is a sine or a cosine."""
    return any(_is_angle(g, operand) for operand in tensor_operands(event))


def _turned(g: Graph, event: Event) -> Operand | None:
    """What a multiplication of a rotary embedding turns."""
    one, *others = sorted(tensor_operands(event), key=lambda o: _is_angle(g, o))
    return one if others and _is_angle(g, others[0]) and not _is_angle(g, one) else None


def _is_angle(g: Graph, operand: Operand) -> bool:
    """Whether an operand is made of sines and cosines alone."""
    source = g.producer(operand.value)
    return source is not None and any(e.short in _ANGLES for e in g.back(source, lambda e: e.short in SHAPING))


def _splits(event: Event) -> bool:
    """Whether a layout op splits the last axis of its input: heads."""
    if event.short not in ("view", "reshape", "unflatten", "rearrange", "Rearrange.forward", "split", "chunk"):
        return False
    operands = tensor_operands(event)
    before = shape_at(event, operands[0]) if operands else None
    if before is None or event.shape is None:
        return False
    old, new = before.suffix[-1:], event.shape.suffix[-1:]
    if event.sizes is not None and old and new and event.sizes.resolve(old[0].dim) == event.sizes.resolve(new[0].dim):
        return False  # what is split is another axis: (B*T, d) as (B, T, d)
    return len(event.shape.axes) > (len(before.axes) if before.run is None else max(3, len(before.axes)))


def total(factors: Iterator[Factor] | list[Factor], sizes: Sizes) -> tuple[dict[Dim, Fraction], float]:
    """All factors together: powers of sizes, and the coefficient."""
    powers: dict[Dim, Fraction] = {}
    coefficient = 1.0
    for factor in factors:
        for dim, exponent in factor.powers(sizes).items():
            powers[dim] = powers.get(dim, Fraction(0)) + exponent
        coefficient *= factor.coefficient or 1.0
    return {d: e for d, e in powers.items() if e}, coefficient


def is_of_heads(g: Graph, scaled: Scaled, size: Dim, width: Dim, sizes: Sizes) -> bool:
    """Whether the summed size is that of one of several heads, into which features of the size of the root are mapped.

    Two sizes of a constructor may be equal on purpose; the width of the model and that of one head are not.
    """
    for operand in tensor_operands(scaled.product.event):
        made = g.producer(operand.value)
        source = g.origin(made) if made is not None else None
        if source is not None and source.short in PRODUCTS and _is_stacked(source, size, width, sizes):
            return True
        layer = source.value("self") if source is not None and source.short == "Linear.forward" else None
        if not isinstance(layer, Layer):
            continue
        taken, given = layer.config.get("in_features"), layer.config.get("out_features")
        if isinstance(taken, Int) and isinstance(given, Int) and sizes.resolve(taken.dim) == size:
            heads = sizes.resolve(given.dim).divide(width)
            if heads is not None and heads.named:
                return True
    return False


def _is_stacked(product: Event, size: Dim, width: Dim, sizes: Sizes) -> bool:
    """Whether features of one size are mapped to another by a weight of its own for each head, (n_heads, d, d_head)."""
    weight = next((o.value for o in tensor_operands(product) if isinstance(o.value, Tensor) and o.value.learned), None)
    shape = sizes.shape(weight.shape) if weight is not None else None
    if shape is None or shape.rank != 3:
        return False
    dims = [sizes.resolve(axis.dim) for axis in shape.axes]
    others = [d for d in dims if d not in (size, width)]
    return size in dims and width in dims and len(others) == 1 and others[0].const != 1
