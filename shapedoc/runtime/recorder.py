"""The recorder of a run: every tensor operation of watched code, through the op table, into a trace."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import FrameType
from typing import Any, TypeVar

from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind as SameKind
from shapedoc.core.trace import Event, Problem, Trace
from shapedoc.core.value import Layer, Seq, Tensor, Unknown, Value
from shapedoc.infer.noticed.discarded import drops_result
from shapedoc.infer.operands import Arg
from shapedoc.infer.recorder import Recorder
from shapedoc.ops.registry import Op, find
from shapedoc.rules.reading.contractions import names
from shapedoc.runtime.activations import Activation, Activations
from shapedoc.runtime.arguments import Arguments
from shapedoc.runtime.figures import Figures
from shapedoc.runtime.places import Place, source_file
from shapedoc.runtime.shadows import Shadows, is_array, kind_of
from shapedoc.runtime.statements import apply_parameters, apply_result
from shapedoc.source import ir
from shapedoc.source.written import written_in

__all__ = ["RunRecorder"]

_Result = TypeVar("_Result")
# Events after which a run is not recorded any further: findings repeat, and memory is not without end.
_MOST_EVENTS = 6000


class RunRecorder(Recorder):
    """Writes a trace of real operations.

    watched: which files' code is of interest. failures: exceptions that an operation raised, and their events.
    """

    def __init__(self, watched: Callable[[str], bool], path: str = "", text: str = "") -> None:
        super().__init__(Trace(path, text, look=cache(partial(written_in, text))))
        self.shadows = Shadows(self.sizes)
        self.figures = Figures(self.sizes, self.shadows.get, self.shadows.built)
        self.arguments = Arguments(self)
        self.activations = Activations(watched, self._entered)
        self.activations.main = path
        self.failures: list[tuple[BaseException, Event]] = []
        self.activation: Activation | None = None
        # How many operations of a library are running, whose own operations are not the author's.
        self.inside = 0
        # The call of einops that is running, and its event.
        self.composite: tuple[FrameType, Event | None] | None = None
        self.faults = 0

    @property
    def function(self) -> str:
        return self.activation.function if self.activation is not None else ""

    @property
    def full(self) -> bool:
        """Whether nothing more is recorded."""
        return len(self.trace.events) >= _MOST_EVENTS

    # -- one operation

    def locate(self, frame: FrameType | None) -> Place | None:
        """Go to where the author's code is; None where none of it is running, or its place is not known."""
        self.activations.events = len(self.trace.events)
        self.activation = activation = self.activations.update(frame)
        if activation is None or activation.place is None:
            return None
        if not self.trace.path:
            main = source_file(self.activations.main) or activation.file
            self.trace.path, self.trace.text = main.path, main.text
        self.calls, self.loops = self.activations.calls(), self.activations.loops()
        self.path = self.activations.path(activation)
        return activation.place

    def perform(
        self,
        name: str,
        place: Place,
        args: Sequence[Arg],
        keywords: Mapping[str, Arg],
        run: Callable[[], Any],
        layer: Layer | None = None,
    ) -> Any:
        """Run an operation and record it, or what it raised."""
        __tracebackhide__ = True
        try:
            result = run()
        except Exception as raised:
            problem = raised
            self.safely(lambda: self._failed(problem, name, place, args, keywords, layer))
            raise
        self.safely(lambda: self._done(result, name, place, args, keywords, layer))
        return result

    def safely(self, action: Callable[[], _Result]) -> _Result | None:
        """What an action of the recorder gives; a fault of it is not the program's, and gives None."""
        try:
            return action()
        except Exception:
            self.faults += 1
            if os.environ.get("SHAPEDOC_DEBUG"):
                raise
            return None

    def _failed(
        self,
        problem: BaseException,
        name: str,
        place: Place,
        args: Sequence[Arg],
        keywords: Mapping[str, Arg],
        layer: Layer | None,
    ) -> None:
        event = self.evaluated(name, place, args, keywords, layer)
        self.failures.append((problem, event))

    def _done(
        self,
        real: Any,
        name: str,
        place: Place,
        args: Sequence[Arg],
        keywords: Mapping[str, Arg],
        layer: Layer | None,
    ) -> None:
        event = self.evaluated(name, place, args, keywords, layer)
        self.settle(event, real)
        self._name_target(event, place)
        self._note_discarded(event, place)

    def _note_discarded(self, event: Event, place: Place) -> None:
        """Note that nobody takes the result: of the last operation of a call that is a statement in a function."""
        statement = place.statement
        if not isinstance(statement, ir.ExprStmt) or statement.value is not place.node or place.tried:
            return
        if isinstance(place.node, ir.Call) and (place.definition is not None or place.loops):
            event.discarded = drops_result(place.node, event)
            before = self.trace.events[event.index - 1] if event.index else event
            before.discarded = before.discarded and before.span != event.span

    def settle(self, event: Event, real: Any) -> None:
        """Bring an event together with what the operation really gave."""
        event.result = self._real(event.result, real, event)
        event.shape = event.result.shape if isinstance(event.result, Tensor) else None
        if event.problems:
            event.problems = tuple(p for p in event.problems if _possible(p))
            if not event.problems:
                self.spoilt.discard(event.index)

    def evaluated(
        self,
        name: str,
        place: Place,
        args: Sequence[Arg],
        keywords: Mapping[str, Arg],
        layer: Layer | None = None,
    ) -> Event:
        """Evaluate an operation by the table and append its event."""
        start = len(self.trace.events)
        op = self._op(name, layer)
        if op is None:
            self.unknown_call(name, place.node, args, keywords)
        else:
            self.record(op, name, place.node, args, {k: a for k, a in keywords.items() if _takes(op, k)}, layer=layer)
        if len(self.trace.events) == start:
            self.emit(name, place.node, (), Unknown("nothing went in"))
        return self.trace.events[-1]

    @staticmethod
    def _op(name: str, layer: Layer | None) -> Op | None:
        if layer is None:
            return find(name)
        from shapedoc.ops.registry import find_layer

        entry = find_layer(layer.kind)
        return entry.forward if entry is not None else None

    def _real(self, value: Value, real: Any, event: Event) -> Value:
        """The value that an operation really gave: the table's where it agrees, else one of the real shape."""
        if is_array(real):
            known = value if isinstance(value, Tensor) else Tensor(Shape.unknown())
            if not self.shadows.agrees(known.shape, tuple(real.shape)):
                known = Tensor(self.shadows.plain(tuple(real.shape)), event=event.index, learned=known.learned)
            elif event.short in _CREATES or isinstance(value, Unknown):
                known.shape = self._unliteral(known.shape)
            known.kind = kind_of(real)
            if known.event < 0:
                known.event = event.index
            self.shadows.put(real, known)
            if event.short in _CREATES:
                self.shadows.wraps(real, known)
            return known
        if isinstance(real, tuple | list) and real and any(is_array(r) or isinstance(r, tuple) for r in real):
            items = value.items if isinstance(value, Seq) and len(value.items) == len(real) else (None,) * len(real)
            parts = tuple(
                self._real(v if v is not None else Unknown("a part"), r, event)
                for v, r in zip(items, real, strict=True)
            )
            names = value.names if isinstance(value, Seq) else ()
            return Seq(parts, "list" if isinstance(real, list) else "tuple", names=names)
        return value

    def _unliteral(self, shape: Shape) -> Shape:
        """Sizes that are written as numbers are ones that nobody named."""
        shape = self.sizes.shape(shape)
        items = tuple(
            Axis(self.shadows.anonymous(a.dim.const), a.ids, a.visible, a.factors)
            if isinstance(a, Axis) and a.dim.const is not None and a.dim.const > 1
            else a
            for a in shape.items
        )
        return Shape(items)

    def _name_target(self, event: Event, place: Place) -> None:
        """The name that the result is assigned to, if it is at once."""
        statement = place.statement
        if not isinstance(statement, ir.Assign) or statement.value is not place.node:
            return
        for target in statement.targets:
            if isinstance(target, ir.Sequence) and isinstance(event.result, Seq):
                for item, value in zip(target.items, event.result.items, strict=False):
                    if isinstance(item, ir.Name) and isinstance(value, Tensor) and not value.name:
                        value.name = item.id
            name = target.id if isinstance(target, ir.Name) else ""
            if isinstance(target, ir.Attribute):
                name = f"self.{target.attr}"
            if name and isinstance(event.result, Tensor):
                event.target = event.target or name
                event.result.name = event.result.name or name
        if isinstance(event.result, Tensor) and self.activation is not None:
            apply_result(self, self.activation, statement, event.result)

    # -- calls

    def _entered(self, activation: Activation) -> None:
        """A watched function has been called: its parameters get their names, and what is stated of them."""
        definition = activation.place.definition if activation.place is not None else None
        if definition is None:
            return
        values = activation.frame.f_locals
        for parameter in definition.params:
            value = values.get(parameter.name)
            if is_array(value):
                self.shadows.of(value, parameter.name)
        outer = self.activation
        self.activation = activation
        self.safely(lambda: apply_parameters(self, activation, definition))
        self.activation = outer

    def caller(self, depth: int = 1) -> FrameType:
        """The frame that called, so many frames up."""
        return sys._getframe(depth + 1)


def _takes(op: Op, keyword: str) -> bool:
    """Whether a keyword is one that the op knows; others say nothing of shapes."""
    names = {p.name for p in op.params}
    from shapedoc.ops.calling.bind import _ALIASES

    return keyword in names or _ALIASES.get(keyword, "") in names or any(p.keywords for p in op.params)


def _possible(problem: Problem) -> bool:
    """Whether what an op noticed can be so, now that the operation has run."""
    if problem.sameness is not None:
        return problem.sameness.kind is not SameKind.NEVER
    return not problem.loud


_CREATES = names(
    "zeros ones empty full rand randn randint normal new_zeros new_ones new_full tensor arange eye "
    "randperm linspace as_tensor from_numpy array standard_normal random integers uniform"
)
