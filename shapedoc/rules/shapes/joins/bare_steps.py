"""The next tokens of a generation loop, joined to those of before without an axis for their one step.

``logits[:, -1, :].argmax(-1)`` is (B,), the tokens so far are (B, T): torch joins what has as many axes.
"""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Int, Seq
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.encoders import index_parts, is_whole
from shapedoc.rules.reading.flow import Graph, events_of, graph, shape_at
from shapedoc.rules.reading.sized import atom
from shapedoc.rules.reading.wording import label, text_of
from shapedoc.rules.shapes.joins.misjoin import Misjoin

__all__ = ["bare_steps"]

_PICKS = names("argmax max")
_HANDS_ON = names("to long int type type_as cuda cpu detach data contiguous clone")
_SCORES = _HANDS_ON | names("softmax log_softmax div mul log exp float Linear.forward")
_DEPTH = 12


def bare_steps(trace: Trace) -> Iterator[Misjoin]:
    """Where a loop joins the best class of each last step to the tokens that it was worked out from."""
    g, seen = graph(trace), set[Span]()
    for event in events_of(trace, ("cat", "concat", "concatenate")):
        joined, dim = event.operand("tensors"), event.value("dim")
        if joined is None or len(joined.parts) != 2 or not event.loops or event.span in seen:
            continue
        if not isinstance(dim, Int) or dim.value not in (1, -1) or any(p.loud for p in event.problems):
            continue
        tokens, step = joined.parts
        shape = shape_at(event, tokens)
        picked = _picked(g, step)
        if picked is not None and shape is not None and len(shape.axes) == 2:
            seen.add(event.span)
            text = text_of(trace, step)
            yield Misjoin(
                event,
                step.span or event.span,
                1,
                f"{text} has one token for each example, and no axis for its step: {text_of(trace, tokens)} has",
                "what is joined has as many axes, (B, T) and (B, 1)",
                f"{atom(text)}.unsqueeze(1)",
                label(picked.span, "the best class, without its axis"),
            )


def _picked(g: Graph, step: Operand) -> Event | None:
    """What picks one class of each last step, and drops its axis; nothing gives it another."""
    if step.shape is not None and len(step.shape.axes) > 1:
        return None  # as it was before the join, which would have it fit
    made = _behind(g, g.producer(step.value), _HANDS_ON)
    if made is None or made.short not in _PICKS or not made.loops or not _drops_its_axis(made):
        return None
    given = _behind(g, g.main_source(made), _SCORES)
    parts = index_parts(given.value("index")) if given is not None and given.short == "getitem" else None
    if not parts or len(parts) < 2 or not isinstance(parts[1], Int) or not is_whole(parts[0]):
        return None
    after = given.shape if given is not None else None
    few = after is not None and len(after.axes) <= 2
    return made if few and all(is_whole(p) for p in parts[2:]) else None


def _behind(g: Graph, event: Event | None, through: frozenset[str]) -> Event | None:
    for _ in range(_DEPTH):
        if event is None or event.short not in through:
            break
        event = g.main_source(event)
    return event


def _drops_its_axis(event: Event) -> bool:
    dim, keeps = event.value("dim"), event.value("keepdim")
    along = isinstance(dim, Int) and dim.value in (-1, 1)
    kept = isinstance(keeps, Bool) and keeps.value is not False
    return along and not kept and (event.short == "argmax" or isinstance(event.result, Seq))
