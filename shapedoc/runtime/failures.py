"""What raised in a call that was not recorded: the one operation, recorded from its own arguments."""

from __future__ import annotations

from collections.abc import Callable

from shapedoc.core.value import Layer
from shapedoc.infer.operands import Arg
from shapedoc.runtime.layers import kind_of_module, layer_of
from shapedoc.runtime.recorder import RunRecorder
from shapedoc.runtime.recording import Recording
from shapedoc.runtime.sites import Failure
from shapedoc.runtime.watch import between, described
from shapedoc.source import ir

__all__ = ["recording_of_failure"]


def recording_of_failure(failure: Failure, watched: Callable[[str], bool]) -> Recording | None:
    """A recording of nothing but an operation that has just raised; called while its frames are still there."""
    recorder = RunRecorder(watched)
    recorder.safely(lambda: _record(recorder, failure))
    if not recorder.failures:
        return None
    recorder.trace.entries.append(("", 0, len(recorder.trace.events), recorder.sizes))
    return Recording(recorder, failure.problem)


def _record(recorder: RunRecorder, failure: Failure) -> None:
    place = recorder.locate(failure.author)
    if place is None:
        return
    found = _outermost_layer(recorder, failure)
    if found is not None:
        layer, given, keywords = found
        event = recorder.evaluated(f"{layer.kind}.forward", place, given, keywords, layer)
    else:
        called = getattr(failure.func, "__name__", "")
        direct, library = between(recorder, failure.caller)
        name, args, node, method = described(place, failure.func, called, failure.args, direct=direct, library=library)
        given, keywords = recorder.arguments.call(args, failure.kwargs, node, method)
        event = recorder.evaluated(name, place, given, keywords)
    recorder.failures.append((failure.problem, event))


def _outermost_layer(recorder: RunRecorder, failure: Failure) -> tuple[Layer, list[Arg], dict[str, Arg]] | None:
    """The library module that the author's code called, and what it was given; None where it called none."""
    found, frame = None, failure.caller
    while frame is not failure.author and frame.f_back is not None:
        if frame.f_code.co_name == "forward" and kind_of_module(frame.f_locals.get("self")) is not None:
            found = frame
        frame = frame.f_back
    if found is None or recorder.activation is None or recorder.activation.place is None:
        return None
    layer = layer_of(recorder, found.f_locals["self"], failure.author.f_locals.get("self"))
    names = found.f_code.co_varnames[1 : found.f_code.co_argcount]
    given = {n: found.f_locals[n] for n in names if found.f_locals.get(n) is not None}
    if layer is None or not given:
        return None
    node = recorder.activation.place.node
    positional = [a for a in node.args if not isinstance(a, ir.Starred)] if isinstance(node, ir.Call) else []
    args = [given.pop(n) for n in names[: max(len(positional), 1)] if n in given]
    arguments, keywords = recorder.arguments.call(args, given, node, method=False)
    return layer, arguments, keywords
