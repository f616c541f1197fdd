"""Functions of einops: one event for each call, whatever operations of torch it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from shapedoc.core.trace import Event
from shapedoc.ops.registry import find
from shapedoc.runtime.places import Place
from shapedoc.runtime.shadows import is_array
from shapedoc.source import ir

if TYPE_CHECKING:
    from shapedoc.runtime.recorder import RunRecorder

__all__ = ["inside_einops"]


def inside_einops(
    recorder: RunRecorder,
    place: Place,
    frame: FrameType,
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """One operation inside einops: the first of a call records the call, and the last one's result is the call's."""
    outer = recorder.safely(lambda: _outermost(recorder, frame))
    result = func(*args, **kwargs)
    if outer is None:
        return result
    if recorder.composite is None or recorder.composite[0] is not outer:
        event = recorder.safely(lambda: _recorded(recorder, place, outer))
        recorder.composite = (outer, event)
    event = recorder.composite[1]
    if event is not None and is_array(result):
        recorder.safely(lambda: recorder.settle(event, result))
    return result


def _outermost(recorder: RunRecorder, frame: FrameType | None) -> FrameType | None:
    """The function of einops that the author called."""
    found, author = None, recorder.activation.frame if recorder.activation is not None else None
    while frame is not None and frame is not author:
        if frame.f_globals.get("__name__", "").startswith("einops."):
            found = frame
        frame = frame.f_back
    return found


def _recorded(recorder: RunRecorder, place: Place, outer: FrameType) -> Event | None:
    name = f"einops.{outer.f_code.co_name}"
    given = outer.f_locals
    node = place.node
    if find(name) is None or not isinstance(node, ir.Call) or not node.args:
        return None
    if "tensors_and_pattern" in given:
        positional = list(given["tensors_and_pattern"])
    else:
        rest = [given["reduction"]] if "reduction" in given and outer.f_code.co_name == "reduce" else []
        positional = [given["tensor"], given["pattern"], *rest]
    args, keywords = recorder.arguments.call(positional, given.get("axes_lengths", {}), node, False)
    return recorder.evaluated(name, place, args, keywords)
