"""Sizes in words, and what one could write to make them fit."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind
from shapedoc.core.span import Label
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.flow import SHAPING, graph, shape_at
from shapedoc.rules.reading.wording import made_by, shape_text, text_of

__all__ = [
    "atom",
    "equal",
    "exchanged",
    "is_made_one",
    "is_named",
    "made_before",
    "only_if",
    "quoted",
    "same_size",
    "shape_with",
    "size_text",
    "sums_over_one",
    "where_size",
    "with_axis",
]


def size_text(event: Event, size: Axis | Dim | None) -> str:
    """A size as the author calls it, with its number where both are known: ``d_s`` or ``d_s = 64``."""
    if size is None or event.sizes is None:
        return "?"
    dim = event.sizes.resolve(size.dim if isinstance(size, Axis) else size)
    shown = event.sizes.show(dim)
    number = dim.value
    return shown if number is None or shown == str(number) else f"{shown} = {number}"


def sums_over_one(event: Event, problem: Problem) -> bool:
    """Whether an axis that was made as a 1 meets a width that has a name in a product: it would sum nothing."""
    if problem.kind != "mismatched-product" or len(problem.operands) != 2:
        return False
    operands = (event.operand(name) for name in problem.operands)
    shapes = [shape_at(event, operand) for operand in operands]
    axes = [s.items[at] for s, at in zip(shapes, problem.axes, strict=True) if s is not None and at < len(s.items)]
    ones = [a for a in axes if isinstance(a, Axis) and is_made_one(event, a)]
    return len(ones) == 1 and any(isinstance(a, Axis) and is_named(event, a) for a in axes)


def is_made_one(event: Event, axis: Axis) -> bool:
    """Whether an axis has one element, and the code shows it."""
    return axis.visible and event.sizes is not None and event.sizes.resolve(axis.dim).const == 1


def is_named(event: Event, axis: Axis) -> bool:
    """Whether the size of an axis is made of names."""
    syms = event.sizes.resolve(axis.dim).syms if event.sizes is not None else ()
    return bool(syms) and all(s.name for s in syms)


def quoted(event: Event, size: Axis | Dim | None) -> str:
    """A size between backticks, with its number: ```d_s` (64)``."""
    name, _, number = size_text(event, size).partition(" = ")
    if name == "?":
        return "a size without a name"
    return f"`{name}` ({number})" if number else f"`{name}`"


def made_before(trace: Trace, event: Event, *operands: Operand | None) -> tuple[Label, ...]:
    """Labels at the places where operands were made, or what those were cut from in the event's own text."""
    found: list[Label] = []
    for operand in operands:
        if operand is None:
            continue
        labels = made_by(trace, operand.value, event, text_of(trace, operand))
        found += [lb for lb in labels if not event.span.contains(lb.span)] or _cut_from(trace, event, operand)
    return tuple(found)


def _cut_from(trace: Trace, event: Event, operand: Operand) -> list[Label]:
    """A label where a tensor was made that the event's own text cuts or lays out: ``x + self.table[:T]``."""
    g = graph(trace)
    source = g.producer(operand.value) if isinstance(operand.value, Tensor) else None
    while source is not None and source.short in SHAPING and event.span.contains(source.span):
        source = g.main_source(source)
    made = source.result if source is not None else None
    if source is None or not isinstance(made, Tensor) or not made.name or event.span.contains(source.span):
        return []
    return [Label(source.span, f"{made.name} is {shape_text(event, made.shape)}")]


def equal(event: Event, one: Axis | Dim, other: Axis | Dim) -> bool:
    """Whether two sizes are certainly one, or have one name in one function."""
    if event.sizes is None:
        return False
    a = event.sizes.resolve(one.dim if isinstance(one, Axis) else one)
    b = event.sizes.resolve(other.dim if isinstance(other, Axis) else other)
    if event.sizes.compare(a, b).kind is Kind.ALWAYS:
        return True
    s, t = a.sym, b.sym
    named = s is not None and t is not None and s.name.strip("_") != "" and s.value is None and t.value is None
    return named and s is not None and t is not None and (s.name, s.owner) == (t.name, t.owner)


def same_size(event: Event, shape: Shape | None, size: Axis | Dim, *, but: int | None = None) -> int | None:
    """The position, counted from the right, of an axis that certainly has this size; `but` is left out."""
    if shape is None:
        return None
    tail = shape.suffix
    for back in range(-1, -len(tail) - 1, -1):
        if back != but and equal(event, tail[back], size):
            return back
    return None


def only_if(problem: Problem) -> tuple[str, ...]:
    """The note that says by which coincidence the code would run."""
    when = problem.sameness.when if problem.sameness is not None else ""
    return (f"runs only if {when}",) if when else ()


def shape_with(event: Event, shape: Shape | None, position: int, size: Axis | Dim | str) -> str:
    """A shape in words with the axis at `position` (from the right) of another size; "" where it is not known."""
    if shape is None or event.sizes is None or -position > len(shape.items):
        return ""
    parts = [event.sizes.show(i.dim) if isinstance(i, Axis) else str(i) for i in shape.items]
    if isinstance(size, Axis):
        size = size.dim
    parts[position] = size if isinstance(size, str) else event.sizes.show(size)
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def exchanged(trace: Trace, event: Event, operand: Operand | None, one: int = -2, other: int = -1) -> str:
    """How to write an operand with two axes (counted from the right) exchanged."""
    text = atom(text_of(trace, operand))
    shape = shape_at(event, operand)
    rank = shape.rank if shape is not None else None
    if operand is not None and isinstance(operand.value, Tensor) and operand.value.library == "numpy":
        return _turned(text) if rank == 2 else f"np.swapaxes({text}, {one}, {other})"
    return _turned(text) if rank == 2 else f"{text}.transpose({one}, {other})"


def atom(text: str) -> str:
    """An expression as it stands before a dot: in parentheses where an operator is outside of any."""
    depth = 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c in " +-*/@~&|<>=%":
            return f"({text})"
    return text


def with_axis(trace: Trace, operand: Operand | None, place: int) -> str:
    """How to write an operand with one more axis of size 1."""
    text = text_of(trace, operand)
    if operand is not None and isinstance(operand.value, Tensor) and operand.value.library == "numpy":
        return f"np.expand_dims({text}, {place})"
    return f"{atom(text)}.unsqueeze({place})"


def where_size(event: Event, axis: Axis | None) -> str:
    """Where a size came from, in words; "" where that is not known."""
    if axis is None or event.sizes is None:
        return ""
    sym = event.sizes.resolve(axis.dim).sym
    if sym is None or not sym.name or not sym.origin:
        return ""
    return f"`{sym.name}` is {sym.origin}" + (f", line {sym.line}" if sym.line else "")


def _turned(text: str) -> str:
    """A matrix the other way round; one that is turned already loses its turn."""
    return text.removesuffix(".T") if text.endswith(".T") else f"{text}.T"
