"""Calls of recurrent cells."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def cell(draw: Draw) -> Call:
    into, hidden = draw.sizes(2)
    batch = draw.shape(0, 1)
    shape, states = [*batch, into], [[*batch, hidden], [*batch, hidden]]
    lstm = draw.name.endswith("LSTMCell")
    if draw.wrong():
        # A vector with a matrix of states is left out: torch lets some of those through.
        which = draw.number(0, 2)
        if which == 0:
            shape = [*batch, draw.other(into)] if batch else [2, 2, into]
        else:
            states[which - 1 if lstm else 0] = [*batch, draw.other(hidden)]
    given: list[object] = []
    if draw.maybe():
        given = [tuple(T(s) for s in states) if lstm else T(states[0])]
    return Call([T(shape), *given], init=(into, hidden))


SAMPLES: dict[str, Sample] = {f"torch.nn.{name}": cell for name in ("RNNCell", "GRUCell", "LSTMCell")}
