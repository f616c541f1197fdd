"""The axis argument: of a softmax, a sum, a mean, a join."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, is_numpy, rank_of

__all__: list[str] = []

_WORDS = ("dim", "axis")
# Where the axis stands when it is written without its name: after the receiver, or after the tensor.
_SOFTMAXES = ("softmax", "log_softmax", "Softmax", "LogSoftmax")
_REDUCTIONS = ("sum", "mean", "std", "var")
_CALLS: dict[str, tuple[str, ...]] = {
    "SD401": _SOFTMAXES,
    "SD402": _SOFTMAXES,
    "SD403": _SOFTMAXES,
    "SD407": _REDUCTIONS,
    "SD606": _REDUCTIONS,
    "SD104": ("cat", "concat", "concatenate", "stack"),
    "SD111": (*_SOFTMAXES, *_REDUCTIONS, "squeeze", "unsqueeze", "cat", "stack", "max", "amax", "argmax", "cumsum"),
}
_LIBRARIES = frozenset(("F", "torch", "np", "nn", "numpy", "functional", "fn"))


@proposes("SD401", "SD402", "SD403", "SD407", "SD606", "SD111", "SD104")
def another_axis(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Every other axis in the place of the one that is written; the rule itself says which one is right."""
    events = bench.touching(finding)
    if "gain and bias" in finding.message:
        yield from _with_gain(bench, finding)
        return
    for call in calls(bench, finding):
        name = bench.syntax.called(call)
        word = _parameter(bench, name)
        if name not in _CALLS[finding.code] and not word:
            continue
        word = word or ("axis" if is_numpy(bench, events) else "dim")
        told = re.search(r"`(?:dim|axis)=(-?\d)`", finding.help)
        if told is not None and "..." in finding.actual:
            yield from _told(bench, call, told[1])
        else:
            yield from _changed(bench, call, word, _rank(bench, call, finding))
        return


def _told(bench: Bench, call: cst.Call, axis: str) -> Iterator[Candidate]:
    """The axis that the finding names, where it is not known how many there are."""
    found = _find(bench, call)
    span = bench.syntax.span(found.value) if found is not None else None
    if span is not None:
        yield Candidate((bench.syntax.replace(span, axis),), f"name the axis that is summed: `{axis}`")


def _with_gain(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """A hand-written layer norm: mean and deviation over the axis of gain and bias, both at once."""
    edits: list[Edit] = []
    for one in bench.findings:
        if one.code == finding.code and one.function == finding.function and one.path == bench.path:
            for call in calls(bench, one, "mean", "std", "var"):
                found = _find(bench, call)
                span = bench.syntax.span(found.value) if found is not None else None
                if span is not None:
                    edits.append(bench.syntax.replace(span, "-1"))
                break
    if edits:
        yield Candidate(tuple(edits), "take mean and deviation over the last axis, that of gain and bias: `-1`")


def _rank(bench: Bench, call: cst.Call, finding: Finding) -> int:
    syntax = bench.syntax
    tensor = _tensor(bench, call)
    events = bench.trace.events
    for node in (tensor, call):
        rank = rank_of(events, syntax.span(node)) if node is not None else None
        if rank is not None:
            return rank
    return max(2, finding.actual.count(",") + 1) if finding.actual else 3


def _tensor(bench: Bench, call: cst.Call) -> cst.BaseExpression | None:
    receiver = bench.syntax.receiver(call)
    if receiver is not None and bench.syntax.plain(receiver).split(".")[-1] not in _LIBRARIES:
        return receiver
    return call.args[0].value if call.args else None


def _changed(bench: Bench, call: cst.Call, word: str, rank: int) -> Iterator[Candidate]:
    syntax = bench.syntax
    found = _find(bench, call)
    if found is None:
        for axis in range(rank):
            number = -1 if axis == rank - 1 else axis
            yield Candidate(syntax.argument(call, f"{word}={number}"), f"name the axis: `{word}={number}`")
        return
    value = found.value
    span = syntax.span(value)
    if span is None:
        return
    if isinstance(value, cst.Tuple):
        for element in value.elements:
            rest = [syntax.plain(e.value) for e in value.elements if e is not element]
            text = rest[0] if len(rest) == 1 else f"({', '.join(rest)})"
            place = syntax.whole(value)
            if place is not None and rest:
                yield Candidate((syntax.replace(place, text),), f"leave the axis out: `{text}`")
        return
    old = syntax.source(span).replace(" ", "")
    numbers = range(-1, -rank - 1, -1) if old.startswith("-") else range(rank)
    for number in numbers:
        if str(number) != old:
            edit: tuple[Edit, ...] = (syntax.replace(span, str(number)),)
            yield Candidate(edit, f"name another axis: `{found.keyword or word}={number}`")


class _Found:
    """The axis argument of a call as it is written."""

    def __init__(self, keyword: str, value: cst.BaseExpression) -> None:
        self.keyword = keyword
        self.value = value


def _find(bench: Bench, call: cst.Call) -> _Found | None:
    for arg in bench.syntax.arguments(call):
        if arg.keyword in _WORDS:
            return _Found(arg.keyword, arg.value)
    receiver = bench.syntax.receiver(call)
    name = bench.syntax.called(call)
    module = name[:1].isupper()
    method = receiver is not None and bench.syntax.plain(receiver).split(".")[-1] not in _LIBRARIES
    index = 0 if method or module else 1
    positional = [arg for arg in bench.syntax.arguments(call) if not arg.keyword and not arg.star]
    if index < len(positional) and isinstance(positional[index].value, cst.Integer | cst.UnaryOperation | cst.Tuple):
        return _Found("", positional[index].value)
    return None


def _parameter(bench: Bench, name: str) -> str:
    """The name of the axis parameter of a function of the author's."""
    for function in bench.syntax.functions():
        if function.name.value == name:
            for param in (*function.params.params, *function.params.kwonly_params):
                if param.name.value in _WORDS:
                    return param.name.value
    return ""
