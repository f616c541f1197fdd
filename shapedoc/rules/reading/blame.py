"""Where the fault lies: in the code that raises, or in the call that brought in what does not fit.

Code is walked several times: every class and function by itself, and again wherever it is called. Code that one walk
finds sound takes what it was given there, so that where another walk finds a problem in it the call is at fault.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache

from shapedoc.core.dim import Dim
from shapedoc.core.shape import Axis, Run
from shapedoc.core.sizes import Kind
from shapedoc.core.span import Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import Int, Layer, Seq, Tensor
from shapedoc.rules.reading.flow import SHAPING, axis_at, graph, shape_at
from shapedoc.rules.reading.walks import twins
from shapedoc.rules.reading.wording import text_of

__all__ = [
    "axis_of",
    "build_call",
    "build_event",
    "clearest",
    "constructed",
    "faulty_call",
    "handed_in",
    "is_constant",
    "laid_out",
    "layer_of",
    "operand_of",
    "outside",
    "problems",
    "setting_span",
    "sibling_size",
    "twins",
]


def problems(trace: Trace, *kinds: str) -> Iterator[tuple[Event, Problem]]:
    """Every problem of these kinds with its event; one for an event and a kind, the surest.

    Left out are those with a size of 0: such a tensor is a start, or a test of what happens with none.
    """
    for event in _troubled(trace):
        for kind in kinds:
            found = [p for p in event.problems if p.kind == kind and "0" not in p.sizes]
            if found:
                yield event, min(found, key=_doubt)


@lru_cache(maxsize=2)
def _troubled(trace: Trace) -> tuple[Event, ...]:
    """The events that have problems."""
    return tuple(event for event in trace.events if event.problems)


def _doubt(problem: Problem) -> int:
    """How unsure a problem is: 0 where it is certain."""
    sameness = problem.sameness
    if sameness is None or sameness.kind is Kind.NEVER:
        return 0
    return 4 - sameness.strength if sameness.kind is Kind.ONLY_IF else 9


def layer_of(event: Event) -> Layer | None:
    """The module that an event calls."""
    value = event.value("self")
    return value if isinstance(value, Layer) else None


def build_event(trace: Trace, layer: Layer) -> Event | None:
    """The event that built a module."""
    if 0 <= layer.event < len(trace.events) and isinstance(trace.events[layer.event].result, Layer):
        return trace.events[layer.event]
    return None


def build_call(trace: Trace, layer: Layer, call: Call) -> Call | None:
    """The call that built the object whose method `call` calls, where the module was built in its constructor."""
    built = build_event(trace, layer)
    owner, _, method = call.function.rpartition(".")
    if built is None or not owner or not method:
        return None
    for made in built.calls:
        if made.function == f"{owner}.__init__" and made.span != built.span:
            return made
    return None


def constructed(trace: Trace, event: Event, builder: str) -> Call | None:
    """The last call before an event of the constructor `builder` ("Class.__init__") that brought in its numbers.

    None where the class is walked by itself, so that nobody calls it.
    """
    if not builder.endswith("__init__"):
        return None
    for other in reversed(trace.events[: event.index]):
        if _entry_of(trace, other) != _entry_of(trace, event):
            return None
        for call in other.calls:
            if call.function == builder:
                return call if other.calls[0] is not call or _entry_of(trace, event) == "" else None
    return None


def sibling_size(trace: Trace, built: Event | None, number: int | None) -> str:
    """The name of a size that the constructor which built something got too, and which has this number; "" if none.

    A module that is given one size where another of its constructor's fits was given the wrong one.
    """
    if built is None or number is None or not built.calls:
        return ""
    call = built.calls[-1].id
    for event in trace.events[max(0, built.index - 200) : built.index + 200]:
        if event.calls and event.calls[-1].id == call:
            for dim in _dims(event):
                sym = dim.sym
                if sym is not None and sym.name and sym.value == number:
                    return sym.name
    return ""


def _dims(event: Event) -> Iterator[Dim]:
    if isinstance(event.result, Layer):
        yield from (v.dim for v in event.result.config.values() if isinstance(v, Int))
    elif event.shape is not None:
        yield from (axis.dim for axis in event.shape.axes)


def operand_of(trace: Trace, event: Event, name: str) -> Operand | None:
    """An operand by name, an element of a list included that was not written out where it is used (``hx[0]``)."""
    found = event.operand(name)
    whole, _, rest = name.partition("[")
    operand = event.operand(whole)
    number = rest.rstrip("]")
    if found is not None or operand is None or not isinstance(operand.value, Seq) or not number.isdigit():
        return found
    items = operand.value.items
    value = items[int(number)] if int(number) < len(items) else None
    if not isinstance(value, Tensor):
        return None
    return Operand(name, value, f"{text_of(trace, operand)}[{number}]", operand.span, value.shape)


def setting_span(trace: Trace, layer: Layer, setting: str) -> Span:
    """Where a module was given a size: the argument, else the whole call that built it."""
    built = build_event(trace, layer)
    operand = built.operand(setting) if built is not None else None
    return operand.span if operand is not None and operand.span is not None else layer.span


def axis_of(event: Event, operand: Operand | None, position: int) -> Axis | None:
    """An operand's axis by the position a problem gives it, which counts the unknown run as one."""
    shape = shape_at(event, operand)
    if shape is None:
        return None
    if position >= len(shape.items) or position < -len(shape.items):
        return None
    item = shape.items[position]
    return None if isinstance(item, Run) else item


def is_constant(axis: Axis | None) -> bool:
    """Whether an axis has a size without a name."""
    return axis is not None and axis.dim.const is not None


# -- walks of the same code


@lru_cache(maxsize=2)
def _entries(trace: Trace) -> list[tuple[int, int, str]]:
    return [(start, stop, name) for name, start, stop, _ in trace.entries]


def _entry_of(trace: Trace, event: Event) -> str | None:
    for start, stop, name in _entries(trace):
        if start <= event.index < stop:
            return name
    return None


def clearest(trace: Trace, event: Event, problem: Problem) -> tuple[Event, Problem]:
    """The walk that shows a problem best: that of a class or function by itself, where sizes have their names."""
    if _entry_of(trace, event) != "":
        return event, problem
    for other in twins(trace, event):
        if _entry_of(trace, other) == "":
            continue
        for found in other.problems:
            if found.kind == problem.kind and found.operands == problem.operands:
                return other, found
    return event, problem


def faulty_call(trace: Trace, event: Event, kinds: Collection[str], *, driver: bool = False) -> Call | None:
    """The call that brought in what does not fit: the code that it calls is sound as another walk sees it.

    None where the code is at fault wherever it is walked, or where nothing else has walked it. Code that is sound for
    some sizes and is not for those of the driver code is held to be at fault itself; with `driver`, the driver is.
    """
    if event.op == "unpack":
        return _unpacked(trace, event)
    chain = _functions(event)
    sound: set[int] = set()
    unsound = len(chain) + 1
    driven = _entry_of(trace, event) == ""
    for other in twins(trace, event):
        if [c.span for c in other.calls] == [c.span for c in event.calls]:
            continue  # another round of a loop
        if any(p.kind in kinds for p in other.problems):
            if _entry_of(trace, other) != _entry_of(trace, event):
                unsound = min(unsound, len(other.calls))
        elif not other.lost and _known(other, event, kinds):
            sound.add(_shared(chain, _functions(other), event.calls, other.calls))
    limit = len(event.calls) if driven and driver else len(event.calls) - 1
    best = max((n for n in sound if n < unsound and n <= limit), default=0)
    return event.calls[len(event.calls) - best] if best else None


def _unpacked(trace: Trace, event: Event) -> Call | None:
    """The outermost call of code that unpacks its parameter well when it is walked by itself."""
    if _entry_of(trace, event) != "":
        return None
    made = graph(trace).producer(event.value("input"))
    inside = {call.id for call in made.calls} if made is not None else set()
    walked = {name for _, _, name in _entries(trace)}
    unsound = {_entry_of(trace, other) for other in twins(trace, event)}
    for call in event.calls:
        for name in (call.function, call.function.rpartition(".")[0]):
            if name and name in walked:
                return call if name not in unsound and call.id not in inside else None
    return None


def _functions(event: Event) -> tuple[str, ...]:
    return tuple(call.function for call in event.calls)


def _shared(chain: tuple[str, ...], other: tuple[str, ...], calls: tuple[Call, ...], theirs: tuple[Call, ...]) -> int:
    """How many calls, counted from the operation, the two walks went through alike."""
    count = 0
    for one, two, call, their in zip(reversed(chain), reversed(other), reversed(calls), reversed(theirs), strict=False):
        if one != two:
            break
        count += 1
        if call.span != their.span:
            break
    return count


def _known(other: Event, event: Event, kinds: Collection[str]) -> bool:
    """Whether a walk without the problem knew enough to see it: the axes that the problem is about."""
    for problem in event.problems:
        if problem.kind not in kinds or problem.kind == "mismatched-recurrent-state":
            continue  # a module says what state it needs, whatever is known of the one it gets
        for name, position in zip(problem.operands, problem.axes, strict=False):
            ours, theirs = shape_at(event, event.operand(name)), shape_at(other, other.operand(name))
            if ours is None or theirs is None:
                return False
            back = position - len(ours.items) if position >= 0 else position
            ahead = -back <= len(theirs.suffix) or (theirs.run is None and -back <= len(theirs.items))
            if not ahead:
                return False
            one, other_one = axis_at(theirs, back), axis_at(ours, back)
            pair = len(problem.operands) == 2
            if pair and one is not None and one.dim.const == 1 and (other_one is None or other_one.dim.const != 1):
                return False  # sound only because it took the size for 1
            if pair and (one is None or not (one.dim.named or one.dim.const is not None)):
                return False  # sound only because it knew nothing of the size
        if not problem.axes:
            for name in problem.operands:
                theirs = shape_at(other, other.operand(name))
                if theirs is None or theirs.rank is None or any(_learnt_there(a, other) for a in theirs.axes):
                    return False
    return True


def _learnt_there(axis: Axis, event: Event) -> bool:
    """Whether an axis is known only because the operation needs it."""
    sym = axis.dim.sym
    return sym is not None and not sym.name and sym.line == event.span.line


def outside(trace: Trace, event: Event, operand: Operand | None, call: Call) -> Event | None:
    """The event outside `call` that made what an operand is made of."""
    if operand is None:
        return None
    g = graph(trace)
    made = g.producer(operand.value)
    for _ in range(200):
        if made is None or call.id not in {c.id for c in made.calls}:
            return made
        made = g.main_source(made)
    return None


def handed_in(trace: Trace, event: Event, operand: Operand | None) -> Call | None:
    """The call that was handed an operand which was made outside of it; None where it was made beside its use."""
    made = graph(trace).producer(operand.value) if operand is not None else None
    if made is None:
        return None
    inside = {call.id for call in made.calls}
    call = next((c for c in event.calls if c.id not in inside), None)
    return call if call is not None and call.span.line and not call.span.path else None


def laid_out(trace: Trace, event: Event, operand: Operand | None) -> Span | None:
    """Where a variable got the axes that it has: the layout that its assignment writes, in the same function.

    The operand itself where it is written out, or where something else than a layout made it.
    """
    if operand is None or operand.span is None or operand.span.path:
        return operand.span if operand is not None else None
    made = graph(trace).producer(operand.value)
    if made is None or made.short not in SHAPING or made.short == "phi" or made.span.path:
        return operand.span
    named = made.target and made.target == trace.source(operand.span)
    return made.span if named and [c.id for c in made.calls] == [c.id for c in event.calls] else operand.span
