"""The form of a score, read from data flow: additive or multiplicative, and what its query and its memory are.

Additive: a nonlinearity over a sum (or over a linear map of a concatenation) of query and memory. Multiplicative: a
product of the two. Linear: a sum without a nonlinearity.

Source: Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from shapedoc.core.dim import ONE
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Operand
from shapedoc.core.value import Int, Seq, Tensor
from shapedoc.rules.reading.contractions import PRODUCTS, contraction, is_number, names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, result_shape, shape_at
from shapedoc.rules.reading.softmaxes import Softmax

__all__ = ["LINEAR", "NONLINEAR", "Score", "both_have", "score_of"]

NONLINEAR = names(
    "tanh relu sigmoid gelu leaky_relu elu selu silu softplus hardtanh prelu mish relu6 softmax exp sin cos logsigmoid "
    "Tanh.forward ReLU.forward Sigmoid.forward GELU.forward LeakyReLU.forward ELU.forward SELU.forward SiLU.forward "
    "Softplus.forward PReLU.forward Mish.forward LayerNorm.forward layer_norm maximum square abs sqrt pow"
)
# Linear in its first operand.
LINEAR = names("Linear.forward linear Conv1d.forward Conv2d.forward Dropout.forward dropout Identity.forward")
_PLAIN = SHAPING - {"stack", "phi"}
_STRETCHES = names("expand expand_as repeat tile broadcast_to repeat_interleave")
_MASKS = names("masked_fill where masked_fill_ nan_to_num")


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """How scores are made.

    form: see above. event: the sum, the concatenation or the product in which query and memory meet. query: what does
    not differ from key to key; memory: what does. maps: how many linear maps follow. sure: which
    side is which is known; in self-attention both have the axis of the keys, and the second is taken for the memory.
    """

    form: Literal["additive", "multiplicative", "linear"]
    event: Event
    query: tuple[Operand, ...]
    memory: tuple[Operand, ...]
    maps: int = 0
    sure: bool = True


def score_of(g: Graph, softmax: Softmax) -> Score | None:
    """The form of the scores that a softmax normalises; None where it cannot be read."""
    axis, event = softmax.axis, g.producer(softmax.scores.value)
    if axis is None:
        return None
    bent, maps = False, 0
    for _ in range(80):
        if event is None:
            return None
        operands = tensor_operands(event)
        if event.short in PRODUCTS:
            learned = [o for o in operands if _is_parameter(g, o)]
            if not learned:
                found = _product(event, operands, axis)
                return (_projected(g, found, axis) or found) if found is not None else None
            maps += 1
            event = _other(g, operands, learned[0])
        elif event.short == "add":
            made = [o for o in operands if not _is_learned(o)]
            scored = made[0] if len(made) == 1 < len(operands) else next((o for o in operands if _leads(g, o)), None)
            if scored is None or bent:
                return _parts(g, event, list(_terms(g, event)), axis, bent, maps)
            event = g.producer(scored.value)
        elif event.short in ("cat", "stack"):
            return _parts(g, event, operands, axis, bent, maps)
        elif event.short == "mul":
            scored = next((o for o in operands if is_number(o) or _is_learned(o)), None)
            if scored is None and len(operands) == 2:
                return _product(event, operands, axis) if _is_summed(g, event) else None
            maps += scored is not None and _is_learned(scored)
            event = _other(g, operands, scored)
        elif event.short in NONLINEAR:
            bent = True
            event = g.main_source(event)
        elif event.short == "setitem" and not isinstance(event.value("value"), Tensor):
            event = g.main_source(event)  # a number put into some of the scores hides those
        elif event.short in SHAPING | LINEAR | _MASKS or event.short in ("div", "sum"):
            maps += event.short in ("Linear.forward", "linear")
            event = g.main_source(event)
        else:
            return None
    return None


def _is_learned(operand: Operand) -> bool:
    return isinstance(operand.value, Tensor) and operand.value.learned


def _is_parameter(g: Graph, operand: Operand) -> bool:
    """Whether an operand is a parameter of the model, laid out in another way or copied for every example at most."""
    for _ in range(20):
        event = g.producer(operand.value)
        inner = tensor_operands(event) if event is not None else []
        if _is_learned(operand) or event is None or event.short not in _PLAIN or not inner:
            break
        operand = inner[0]
    return _is_learned(operand)


def _other(g: Graph, operands: list[Operand], one: Operand | None) -> Event | None:
    rest = [o for o in operands if o is not one]
    return g.producer(rest[0].value) if rest else None


def _is_summed(g: Graph, event: Event) -> bool:
    """Whether a product element by element is summed: a dot product written out."""
    return any(e.short == "sum" for e in g.forward(event, lambda e: e.short in SHAPING))


def _leads(g: Graph, operand: Operand) -> bool:
    """Whether scores come in by this operand of a sum: a product or a nonlinearity lies behind it."""
    event = g.producer(operand.value)
    if event is None:
        return False
    through = SHAPING | LINEAR | _MASKS | {"mul", "div", "add", "sub", "sum"}
    behind = list(g.back(event, lambda e: e.short in through or _is_map(e)))
    return any((e.short in PRODUCTS and not _is_map(e)) or e.short in NONLINEAR for e in behind)


def _is_map(event: Event) -> bool:
    """Whether an event is a product with a parameter: a linear map."""
    return event.short in PRODUCTS and any(_is_learned(o) for o in tensor_operands(event))


def _product(event: Event, operands: list[Operand], axis: Axis) -> Score | None:
    if len(operands) != 2:
        return None
    memory = [o for o in operands if any(a.ids <= axis.ids for a in _kept(event, o))]
    query = [o for o in operands if o not in memory]
    sure = len(memory) == 1
    if len(memory) == 2:
        query, memory = memory[:1], memory[1:]
    return Score("multiplicative", event, tuple(query), tuple(memory), sure=sure) if memory and query else None


def _projected(g: Graph, score: Score, axis: Axis) -> Score | None:
    """An additive score whose last projection is a plain array: the memory's side is a sum of two mapped sides.

    Source: the scorer of Bahdanau et al. 2015 in NumPy, ``np.tanh(H @ U + s @ W) @ v``.
    """
    event, bent = g.producer(score.memory[0].value), False
    while event is not None and (event.short in NONLINEAR or event.short in _PLAIN):
        bent = bent or event.short in NONLINEAR
        event = g.main_source(event)
    if event is None or event.short != "add":
        return None
    found = _parts(g, event, list(_terms(g, event)), axis, bent, 2)
    return found if found is not None and all(_is_mapped(g, o) for o in found.query) else None


def _is_mapped(g: Graph, operand: Operand) -> bool:
    event = g.producer(operand.value)
    made = g.origin(event, SHAPING) if event is not None else None
    return made is not None and (made.short in PRODUCTS or made.short in ("Linear.forward", "linear"))


def _kept(event: Event, operand: Operand) -> tuple[Axis, ...]:
    found = contraction(event, operand)
    if found is not None:
        return found.kept
    shape = shape_at(event, operand)
    return shape.axes if shape is not None and event.short == "mul" else ()


def _terms(g: Graph, event: Event) -> Iterator[Operand]:
    """The terms of nested sums."""
    for operand in tensor_operands(event):
        source = g.producer(operand.value)
        if source is not None and source.short == "add" and len(tensor_operands(source)) == 2:
            yield from _terms(g, source)
        elif not is_number(operand):
            yield operand


def _parts(g: Graph, event: Event, operands: list[Operand], axis: Axis, bent: bool, maps: int) -> Score | None:
    found = [(o, _varies(g, event, o, axis)) for o in operands if not _is_learned(o)]
    query = tuple(o for o, varies in found if varies is False)
    memory = tuple(o for o, varies in found if varies)
    if not query or not memory or any(varies is None for _, varies in found):
        return None
    return Score("additive" if bent else "linear", event, query, memory, maps)


def both_have(g: Graph, score: Score, axis: Axis) -> bool:
    """Whether query and memory both differ along an axis of the scores, as they do along the batch."""
    return all(_varies(g, score.event, o, axis) for o in (*score.query, *score.memory))


def _varies(g: Graph, event: Event, operand: Operand, axis: Axis) -> bool | None:
    """Whether an operand differs along the key axis: whether it had that axis before it was stretched to it."""
    place = _place(result_shape(event), axis)
    if place is not None and _is_one(shape_at(event, operand), place):
        return False
    for _ in range(60):
        source = g.producer(operand.value)
        inner = tensor_operands(source) if source is not None else []
        if source is None or source.short == "phi" or source.short not in SHAPING | LINEAR or not inner:
            break
        place = _place(result_shape(source), axis)
        if source.short in _STRETCHES and place is not None and _is_copied(source, inner[0], place):
            return False
        event, operand = source, inner[0]
    return _has(shape_at(event, operand), axis)


def _place(shape: Shape | None, axis: Axis) -> int | None:
    """Where the axis stands, from the right."""
    if shape is None:
        return None
    found = [i - len(shape.suffix) for i, a in enumerate(shape.suffix) if a.ids <= axis.ids]
    return found[-1] if found else None


def _is_one(shape: Shape | None, place: int) -> bool:
    """Whether a shape has size 1 at a place from the right, or ends before it."""
    if shape is None:
        return False
    if -place <= len(shape.suffix):
        return shape.suffix[place].dim == ONE
    return shape.rank is not None


def _is_copied(event: Event, operand: Operand, place: int) -> bool:
    """Whether all that stands along a place from the right are copies of one: as many as the result is long."""
    if _is_one(shape_at(event, operand), place):
        return True
    counts, shape, sizes = event.value("repeats"), result_shape(event), event.sizes
    if event.short != "repeat" or not isinstance(counts, Seq) or shape is None or sizes is None:
        return False
    if -place > min(len(counts.items), len(shape.suffix)):
        return False
    count = counts.items[place]
    if not isinstance(count, Int) or not count.dim.syms:
        return False
    return sizes.resolve(shape.suffix[place].dim) == sizes.resolve(count.dim)


def _has(shape: Shape | None, axis: Axis) -> bool | None:
    """Whether a shape has the axis; one with a size that nobody named may have it."""
    if shape is None:
        return None
    if any(a.ids <= axis.ids for a in shape.axes):
        return True
    known = shape.rank is not None and all(a.dim.const is not None or a.dim.named for a in shape.axes)
    return False if known else None
