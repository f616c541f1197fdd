"""What one walk over an entry learns of its parameters, for the next one to start with."""

from __future__ import annotations

from collections.abc import Mapping

from shapedoc.core.shape import Shape
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Symbolic

__all__ = ["is_clearer", "learnt"]


def is_clearer(m: Machine, start: int) -> bool:
    """Whether something that an op did not know when it was evaluated is known now."""
    for event in m.trace.events[start:]:
        shapes = [o.shape for o in event.operands if o.shape is not None] if event.lost else [event.shape]
        for shape in shapes:
            if shape is not None and shape.run is not None and m.sizes.shape(shape).run is None:
                return True
    return False


def learnt(m: Machine, symbols: Mapping[str, Symbolic]) -> dict[int, str]:
    """Keep what this walk learnt of the parameters; a summary of it, to see whether anything is new."""
    summary: dict[int, str] = {}
    for root in symbols.values():
        for s in root.walk():
            if s.used_as_tensor:
                shape = m.sizes.shape(s.as_tensor().shape)
                summary[id(s)] = _summary(shape)
                stated = s.as_tensor().uid in m.described
                surmised = s.as_tensor().uid in m.surmises.tensors or m.surmises.of_shape(m.sizes, s.as_tensor().shape)
                s.refine(shape)
                if stated:
                    m.described.add(s.as_tensor().uid)
                elif surmised:
                    m.surmises.tensors.add(s.as_tensor().uid)
    return summary


def _summary(shape: Shape) -> str:
    return ",".join(getattr(getattr(i, "dim", None), "__repr__", lambda: "*")() for i in shape.items)
