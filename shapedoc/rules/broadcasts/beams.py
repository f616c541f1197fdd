"""The scores of the hypotheses of a beam, lined up with the classes of the next step.

``scores.unsqueeze(1) + log_probs`` gives (beam, V), whose best entries over both axes are the next hypotheses. Without
the axis the score of hypothesis k is added to class k of every hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.shape import Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Seq
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, events_of, graph, shape_at
from shapedoc.rules.reading.walks import twins

__all__ = ["Beams", "lined_up"]

_EXPANDS = names("expand expand_as broadcast_to")
_BESTS = names("topk max sort argmax")
_LOGS = names("log_softmax LogSoftmax.forward log")
_KEEPS = names("mul div sub masked_fill clamp to float detach cpu cuda contiguous double")
_FLAT = names("view reshape flatten ravel")
_LISTED = names("tensor FloatTensor as_tensor Tensor array")


@dataclass(frozen=True, slots=True, eq=False)
class Beams:
    """A sum in a beam search: the scores, one for each hypothesis, and the probabilities of the classes.

    made: what the loop made the scores with.
    """

    event: Event
    scores: Operand
    shape: Shape
    classes: Operand
    made: Event


def lined_up(trace: Trace) -> Iterator[Beams]:
    """Where scores of hypotheses, of one axis, are added along the classes."""
    g, seen = graph(trace), set[Span]()
    for event in events_of(trace, ("add",)):
        if not event.loops or event.span in seen:
            continue
        operands = tensor_operands(event)
        for scores, classes in (operands, operands[::-1]) if len(operands) == 2 else ():
            row, shape = _as_row(g, event, scores)
            if row is None or shape is None or not _are_classes(g, event, classes) or not _is_ranked(g, event):
                continue
            again = [(event, scores), *((e, o) for e in twins(trace, event) if (o := e.operand(scores.name)))]
            made = next((m for e, o in again if (m := _hypotheses(g, e, o)) is not None), None)
            if made is not None:
                seen.add(event.span)
                yield Beams(event, row, shape, classes, made)
                break


def _before_expanding(g: Graph, operand: Operand) -> tuple[Event | None, Operand]:
    """What an operand was before it was expanded, and the event that expanded it."""
    at = None
    for _ in range(4):
        made = g.producer(operand.value)
        given = tensor_operands(made)[:1] if made is not None and made.short in _EXPANDS else []
        if not given:
            break
        at, operand = made, given[0]
    return at, operand


def _as_row(g: Graph, event: Event, operand: Operand) -> tuple[Operand | None, Shape | None]:
    """The operand before it was expanded, and its shape, where it has one axis."""
    at, source = _before_expanding(g, operand)
    shape = shape_at(at or event, source)
    return (source, shape) if shape is not None and shape.rank == 1 else (None, None)


def _are_classes(g: Graph, event: Event, operand: Operand) -> bool:
    """Whether an operand is made of logarithms of probabilities, along the last of two axes or more."""
    shape = shape_at(event, operand)
    made = g.producer(operand.value)
    while made is not None and made.short in _KEEPS:
        made = g.main_source(made)
    if made is None or made.short not in _LOGS or shape is None or shape.rank in (0, 1):
        return False
    dim = made.value("dim")
    number = dim.value if isinstance(dim, Int) else -1
    return number == -1 or (number == 1 if shape.rank is None else number == shape.rank - 1)


def _is_ranked(g: Graph, event: Event) -> bool:
    """Whether the best entries of all, whatever their axis, are taken of the sum."""
    for user in g.forward(event, lambda e: e.short in _KEEPS or e.short in SHAPING):
        given = tensor_operands(user)[:1] if user.short in _BESTS else []
        shape = shape_at(user, given[0]) if given else None
        if shape is not None and shape.rank == 1:
            made = g.producer(given[0].value)
            return made is not None and any(
                e.short in _FLAT for e in g.back(made, lambda e: e.short in _KEEPS or e.short == "phi")
            )
    return False


def _hypotheses(g: Graph, event: Event, operand: Operand) -> Event | None:
    """What made scores that come of the best entries of a step, or of a list of numbers that the loop filled."""
    made = g.producer(_before_expanding(g, operand)[1].value)
    loops = {loop for loop, _ in event.loops}
    for source in g.back(made, lambda e: e.short in SHAPING) if made is not None else ():
        if loops.isdisjoint(loop for loop, _ in source.loops):
            continue
        listed = source.operands[0].value if source.short in _LISTED and source.operands else None
        if source.short in _BESTS or (isinstance(listed, Seq) and listed.rest is not None):
            return made
    return None
