"""Calls of recurrent modules."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Packed, Sample, T

__all__ = ["SAMPLES"]


def module(draw: Draw) -> Call:
    into, hidden, batch, time = draw.sizes(4)
    layers, both = draw.sampled([1, 1, 2]), draw.maybe()
    batch_first, lstm = draw.maybe(), draw.name.endswith("LSTM")
    options: dict[str, object] = {"num_layers": layers, "bidirectional": both, "batch_first": batch_first}
    projected = hidden
    if lstm and hidden > 1 and draw.number(0, 3) == 0:
        projected = draw.sampled([n for n in (1, 2, 3) if n < hidden])
        options["proj_size"] = projected
    first = layers * (2 if both else 1)
    unbatched, packed = draw.number(0, 4) == 0, draw.number(0, 4) == 0
    shape: list[int] = [time, into] if unbatched else [batch, time, into] if batch_first else [time, batch, into]
    middle = [] if unbatched else [batch]
    states = [[first, *middle, projected], [first, *middle, hidden]][: 1 + lstm]
    if draw.wrong() and not packed:
        shape, states = spoilt(draw, shape, states)
    given: list[object] = []
    if draw.maybe():
        given = [tuple(T(s) for s in states) if lstm else T(states[0])]
        if draw.number(0, 9) == 0:
            given = [T(states[0]) if lstm else (T(states[0]), T(states[0]))]
    input: object = T(shape)
    if packed and len(shape) == 3:
        # Nothing wrong is packed: torch's LSTM reads beyond its memory instead of raising.
        input = Packed(T(shape), batch_first)
    return Call([input, *given], init=(into, hidden), options=options)


def spoilt(draw: Draw, shape: list[int], states: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    which = draw.number(0, len(states))
    if which == 0:
        return draw.spoilt(shape), states
    return shape, [draw.spoilt(s) if i == which - 1 else s for i, s in enumerate(states)]


SAMPLES: dict[str, Sample] = {f"torch.nn.{name}": module for name in ("RNN", "GRU", "LSTM")}
