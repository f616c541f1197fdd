"""The watched functions that are running: which call each is, and which round of its loops it is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from shapedoc.core.dim import Dim
from shapedoc.core.span import Span
from shapedoc.core.trace import Call
from shapedoc.runtime.places import Place, SourceFile, place_of, source_file
from shapedoc.source import ir

__all__ = ["Activation", "Activations"]

_COMPREHENSIONS = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")

# Rounds of a loop that are recorded: what later ones do has been seen. A long body is seen in fewer.
_MOST_ROUNDS, _FEW_ROUNDS, _MANY_EVENTS = 12, 3, 400


@dataclass(slots=True, eq=False)
class _Round:
    """A loop that is running: which one, its round, and how far its body has come."""

    loop: int
    outer: tuple[tuple[int, int], ...]
    number: int = 0
    variable: object = None
    position: tuple[int, int] = (0, 0)
    start: int = 0
    seen: set[int] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Activation:
    """One running call of a watched function, or the top of a watched file.

    names: what its stated shapes call the sizes, and what it unpacked them into. place: the node that it is at.
    """

    frame: FrameType
    file: SourceFile
    id: int
    call: Call | None = None
    place: Place | None = None
    loops: tuple[tuple[int, int], ...] = ()
    names: dict[str, Dim] = field(default_factory=dict)
    rounds: dict[int, _Round] = field(default_factory=dict)

    @property
    def function(self) -> str:
        return self.place.function if self.place is not None else ""


class Activations:
    """The chain of watched calls, outermost first, brought up to date at every operation.

    It holds the frames of the last operation, so that a new call is never taken for one that has ended.
    """

    def __init__(self, watched: Callable[[str], bool], entered: Callable[[Activation], None]) -> None:
        self.watched = watched
        self.entered = entered
        self.chain: list[Activation] = []
        # The frame that the recording began in: what called it is not looked at.
        self.bottom: FrameType | None = None
        # How many events there are, and a loop that has shown enough: its frame and its lines.
        self.events = 0
        # The watched files and functions that have run.
        self.executed: set[tuple[str, str]] = set()
        # The same, as paths and where the definitions stand: two functions of a file may have one name.
        self.definitions: set[tuple[str, ir.Span4]] = set()
        self._exhausted: tuple[FrameType, int, int] | None = None
        self._count = 0
        self._loops = 0
        # The path of the file that findings are told of, "" until something of it runs.
        self.main = ""

    def update(self, frame: FrameType | None) -> Activation | None:
        """The innermost watched call that `frame` lies in, its place and rounds known; None where there is none."""
        if self._exhausted is not None and self._still_exhausted(frame):
            return None
        frames: list[FrameType] = []
        while frame is not None and frame is not self.bottom:
            if self.watched(frame.f_code.co_filename):
                frames.append(frame)
            frame = frame.f_back
        if not frames:
            return None
        frames.reverse()
        kept = 0
        while kept < min(len(frames), len(self.chain)) and self.chain[kept].frame is frames[kept]:
            kept += 1
        fresh = frames[kept:]
        del self.chain[kept:]
        # A call that has only now been made moves its caller on; one that goes on does not.
        if self.chain and fresh:
            self._move(len(self.chain) - 1)
        for one in fresh:
            if not self._enter(one):
                break
        if not self.chain:
            return None
        if not fresh:
            self._move(len(self.chain) - 1)
        return self.chain[-1]

    def _still_exhausted(self, frame: FrameType | None) -> bool:
        assert self._exhausted is not None
        loop, first, last = self._exhausted
        while frame is not None:
            if frame is loop:
                return first <= frame.f_lineno <= last
            frame = frame.f_back
        self._exhausted = None
        return False

    def _enter(self, frame: FrameType) -> bool:
        source = source_file(frame.f_code.co_filename)
        if source is None:
            return False
        self.main = self.main or source.path
        self._count += 1
        activation = Activation(frame, source, self._count)
        self.chain.append(activation)
        self._move(len(self.chain) - 1)
        if frame.f_code.co_name not in _COMPREHENSIONS and frame.f_code.co_name != "<module>":
            span = Span(0, 0, 0, 0)
            outer = self.chain[-2] if len(self.chain) > 1 else None
            if outer is not None and outer.place is not None:
                span = Span(*outer.place.node.span, self.path(outer))
            elif activation.place is not None and activation.place.definition is not None:
                span = Span(*activation.place.definition.header, self.path(activation))
            activation.call = Call(span, activation.function, activation.id)
        self.executed.add((source.path, activation.function))
        if activation.place is not None and activation.place.definition is not None:
            self.definitions.add((source.path, activation.place.definition.span))
        self.entered(activation)
        return True

    def path(self, activation: Activation) -> str:
        """The path of spans in this call's file: "" for the file that findings are told of."""
        return "" if activation.file.path == self.main else activation.file.path

    def calls(self) -> tuple[Call, ...]:
        return tuple(a.call for a in self.chain if a.call is not None)

    def loops(self) -> tuple[tuple[int, int], ...]:
        return tuple(pair for a in self.chain for pair in a.loops)

    def _move(self, index: int) -> None:
        """Bring a call to the node that it is at."""
        activation = self.chain[index]
        frame = activation.frame
        activation.place = place = place_of(frame.f_code, frame.f_lasti)
        if place is None:
            return
        nodes = place.loops
        if frame.f_code.co_name in _COMPREHENSIONS:
            nodes = nodes[-1:]
        rounds: list[tuple[int, int]] = []
        for depth, node in enumerate(nodes):
            inner = nodes[depth + 1] if depth + 1 < len(nodes) else None
            rounds.append(self._round(activation, node, inner, tuple(rounds), place))
        activation.loops = tuple(rounds)

    def _round(
        self,
        activation: Activation,
        node: ir.Expr | ir.Stmt,
        inner: ir.Expr | ir.Stmt | None,
        outer: tuple[tuple[int, int], ...],
        place: Place,
    ) -> tuple[int, int]:
        state = activation.rounds.get(id(node))
        if state is None or state.outer != outer:
            self._loops += 1
            state = activation.rounds[id(node)] = _Round(self._loops, outer)
            state.variable = _variable(node, activation.frame)
            state.start = self.events
        at = inner if inner is not None else place.statement or place.node
        position, instruction = at.span[:2], activation.frame.f_lasti
        variable = _variable(node, activation.frame)
        if isinstance(variable, int):
            again = variable != state.variable
        else:
            again = position < state.position or (inner is None and instruction in state.seen)
        if again:
            state.number += 1
            state.seen.clear()
        state.position, state.variable = position, variable
        if inner is None:
            state.seen.add(instruction)
        shown = self.events - state.start
        if state.number >= _MOST_ROUNDS or (state.number >= _FEW_ROUNDS and shown > _MANY_EVENTS):
            self._exhausted = (activation.frame, node.span[0], node.span[2])
        return state.loop, state.number


def _variable(node: ir.Expr | ir.Stmt, frame: FrameType) -> object:
    """The value of a loop's variable, where that is one whole number."""
    target = node.target if isinstance(node, ir.For) else None
    if isinstance(target, ir.Sequence) and target.items:
        target = target.items[0]
    value = frame.f_locals.get(target.id) if isinstance(target, ir.Name) else None
    return value if type(value) is int else None
