"""Recurrent states of stacked layers that are cut in the middle and put side by side, as if directions came first.

Source: PyTorch documentation, torch.nn.LSTM: h_n is (layers * directions, batch, hidden), the lowest layer first, a
layer's two directions beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.trace import Event
from shapedoc.core.value import Bool, Int, Seq
from shapedoc.rules.reading.contractions import literal, names, tensor_operands
from shapedoc.rules.reading.encoders import Taken, is_bidirectional
from shapedoc.rules.reading.flow import Graph

__all__ = ["halved"]

# What leaves the layers where they are.
_KEEPS_LAYERS = names("phi index_select contiguous clone detach to cuda cpu float half dropout Dropout.forward")


def halved(g: Graph, part: Taken) -> Iterator[tuple[Event, Event]]:
    """Where a state of several layers is cut in two along them, and where the halves are joined or added."""
    if part.part == "out" or not _has_layers(part):
        return
    stack, seen = list(part.users), set[int]()
    while stack:
        event = stack.pop()
        if event.index in seen:
            continue
        seen.add(event.index)
        if _cuts_in_two(event) and (is_bidirectional(part.cell) or _asked(part, event)):
            yield from ((event, e) for e in g.users[event.index] if _puts_together(g, e, event))
        elif event.short in _KEEPS_LAYERS and (event.short != "index_select" or literal(event.value("dim")) != 0):
            stack += g.users[event.index]


def _has_layers(part: Taken) -> bool:
    """Whether the module may have several layers: a number of them is given, and it is not 1."""
    count = part.cell.layer.config.get("num_layers")
    return isinstance(count, Int) and count.dim.value != 1


def _asked(part: Taken, event: Event) -> bool:
    """Whether both directions are a choice of the caller, and the event is for one of the answers.

    Two layers that are written as a number may well be what is cut, in one direction.
    """
    if literal(part.cell.layer.config.get("num_layers")) is not None:
        return False
    value = part.cell.layer.config.get("bidirectional")
    unsaid = value is not None and not (isinstance(value, Bool) and value.value is not None and not value.parameter)
    return unsaid and len(event.branch) > len(part.cell.event.branch)


def _cuts_in_two(event: Event) -> bool:
    if event.short not in ("chunk", "tensor_split") or not isinstance(event.result, Seq):
        return False
    along = event.value("dim")
    return len(event.result.items) == 2 and (along is None or literal(along) == 0)


def _puts_together(g: Graph, event: Event, cut: Event) -> bool:
    """Whether both halves of `cut`, and nothing else, are joined along another axis than the first, or added."""
    operands = tensor_operands(event)
    if event.short == "cat" and literal(event.value("dim")) in (0, None):
        return False
    both = len(operands) == 2 and operands[0].value is not operands[1].value
    return event.short in ("cat", "add") and both and all(g.producer(o.value) is cut for o in operands)
