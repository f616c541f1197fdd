"""What a recorder saw: every tensor operation, in order, with what went in and what came out.

The static interpreter writes a trace with symbols, the runtime recorder writes the same from real tensors. Rules read
nothing else. The events form a graph: a tensor's `event` is the index of the event that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

from shapedoc.core.dim import Sym
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sameness, Sizes
from shapedoc.core.span import Span
from shapedoc.core.value import Tensor, Value
from shapedoc.core.written import Written

__all__ = ["Call", "Event", "Misbound", "Operand", "Problem", "Stated", "Tested", "Trace", "Unreadable"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an op noticed about its operands; the rule called `kind` words it.

    kind: the rule's name, such as "mismatched-product". operands: the argument names concerned, the one at fault
    first. axes: for each operand, the axis concerned (from 0). sizes: what was compared, in the author's spelling.
    sameness: how sure it is. loud: whether torch or NumPy raises. detail: what else the rule's message needs.
    """

    kind: str
    operands: tuple[str, ...] = ()
    axes: tuple[int, ...] = ()
    sizes: tuple[str, ...] = ()
    sameness: Sameness | None = None
    loud: bool = True
    detail: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Operand:
    """One argument: its parameter name in the op, the source text and span, the value, and its shape at that time.

    parts: the elements of a list or tuple that is written out, one by one; the second of `tensors` is ``tensors[1]``.
    Never changed once built; not frozen, which would make it three times as dear to build.
    """

    name: str
    value: Value
    text: str = ""
    span: Span | None = None
    shape: Shape | None = None
    parts: tuple[Operand, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class Call:
    """A call of the author's own function that an event lies in: where, and what was called."""

    span: Span
    function: str
    id: int = 0


@lru_cache(maxsize=8)
def _lines(text: str) -> list[str]:
    """The lines of a text, for all that is asked of it."""
    return text.splitlines()


_SYNONYMS = {
    "truediv": "div",
    "divide": "div",
    "multiply": "mul",
    "subtract": "sub",
    "concat": "cat",
    "concatenate": "cat",
    "masked_fill_": "masked_fill",
    "negative": "neg",
    "absolute": "abs",
}


@cache
def _short(op: str) -> str:
    parts = op.split(".")
    name = ".".join(parts[-2:]) if parts[-1] == "forward" else parts[-1]
    return _SYNONYMS.get(name, name)


@dataclass(slots=True, eq=False)
class Event:
    """One operation.

    op: the qualified name it was called by ("torch.bmm", "torch.Tensor.bmm", "operator.matmul", "torch.nn.Linear"
    for building one and "torch.nn.Linear.forward" for calling it, "phi" where branches or loop rounds meet).
    target: the name that the result is assigned to, if it is at once. calls: the calls of the author's own functions
    that it lies in, outermost first. loops: (loop, round) of every loop around it. branch: the branches around it.
    sizes: what was known then. shape: of the result, if it is a tensor. spoilt: it uses what came of operands that did
    not fit, so that what is wrong with it follows from that. doubtful: it rests on what comments say that contradict
    the code, or each other, elsewhere in the function, or lies in a module that is not the one called. withheld:
    something that the op noticed was left out of its problems, since it rests on a statement or on one branch alone.
    in_place: it changes its first operand (``mul_``, ``*=``). discarded: it stands as a statement of its own, so that
    nobody takes its result. learnt: unknown sizes that it took for others, by what its operands must agree in.
    short: the operation without its library, as "bmm", "add", "softmax", "Linear" (built), "Linear.forward" (called).
    """

    index: int
    op: str
    span: Span
    operands: tuple[Operand, ...]
    result: Value
    problems: tuple[Problem, ...] = ()
    lost: str = ""
    function: str = ""
    calls: tuple[Call, ...] = ()
    target: str = ""
    loops: tuple[tuple[int, int], ...] = ()
    branch: tuple[int, ...] = ()
    sizes: Sizes | None = None
    shape: Shape | None = None
    spoilt: bool = False
    doubtful: bool = False
    withheld: bool = False
    in_place: bool = False
    discarded: bool = False
    learnt: tuple[Sym, ...] = ()
    short: str = field(init=False)

    def __post_init__(self) -> None:
        self.short = _short(self.op)

    def operand(self, name: str) -> Operand | None:
        """The operand of this name, or the part of one (``tensors[1]``)."""
        for operand in self.operands:
            if operand.name == name:
                return operand
            for part in operand.parts:
                if part.name == name:
                    return part
        return None

    def value(self, name: str) -> Value | None:
        """The value of the operand of this name."""
        operand = self.operand(name)
        return operand.value if operand else None


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """A shape that the author states of a value, and whether it agreed with the inferred one.

    permuted: a size that it names is there, at another place. event: the index of the event that made the value, -1
    for a parameter. driver: whether the value is what driver code gave to a function; `function` is the one stated in.
    loose: it leaves out axes of size 1 and nothing else, as people do of masks, or gives the same elements in the same
    order, grouped otherwise. first: the function that got the value as a parameter and states the other shape, and
    where; "" where the shape was inferred. given: the call that gives a parameter what it is stated of.
    """

    span: Span
    name: str
    text: str
    form: str
    inferred: str
    verdict: Sameness
    rank_differs: bool = False
    permuted: bool = False
    event: int = -1
    function: str = ""
    driver: bool = False
    loose: bool = False
    first: str = ""
    first_span: Span | None = None
    given: Span | None = None

    @property
    def said(self) -> tuple[str, ...]:
        """What is stated of each axis."""
        return _listed(self.text)

    @property
    def had(self) -> tuple[str, ...]:
        """What was inferred of each axis."""
        return _listed(self.inferred)


def _listed(text: str) -> tuple[str, ...]:
    inside = text.strip("()[]").rstrip(",")
    return tuple(inside.split(", ")) if inside else ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that can only be meant as a shape and does not parse, and what is wrong with it."""

    span: Span
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Misbound:
    """An argument that a call does not give to the parameter of its name, or a parameter that gets none.

    span: of the call. function: what is called. parameter: what the argument is given to, or what gets none.
    argument: the name of the argument, which is another parameter's; "" where one is missing. place: where it stands.
    shift: how many places it stands behind the parameter of its name. optional: `parameter` has a default. elsewhere:
    the parameter of its name is given something too. kind: what is called, "function", "method", "model" (a module's
    forward), "constructor" or "layer" (a library's). computes: it is given a tensor, or belongs to a module.
    surplus: a keyword that is no parameter, or how many arguments there are too many. inside: the function that the
    call stands in.
    """

    span: Span
    function: str
    parameter: str
    argument: str = ""
    place: Span | None = None
    shift: int = 0
    optional: bool = False
    elsewhere: bool = False
    kind: str = "function"
    computes: bool = False
    surplus: str = ""
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Tested:
    """A variable whose truth a branch asks for: what it is called, and the function; tensor: a tensor that it is."""

    name: str
    function: str
    tensor: Tensor | None = None
    shape: Shape | None = None


@dataclass(slots=True, eq=False)
class Trace:
    """All events of one analysis of one file, from every entry (a class by itself, driver code, a function).

    entries: for each entry, its name and the range of events it covers. sizes: what was known at the end of each.
    aliases: where a tensor (its uid) that has a name was given another one, as it is (``hidden = last``).
    returned: where the author's functions return a tensor (its uid), alone or as a part of a tuple.
    misbound: arguments that stand at the place of another parameter, and parameters that get none: by the call, what
    is called, and the parameter.
    handed_back: calls of the author's functions that give an argument back as it is: the function, and the argument.
    tested: the variables that branches test for their truth, by where they stand there.
    texts: of the other files that were read, by their path.
    look: gives what stands in the file, whatever of it runs, and keeps it.
    """

    path: str
    text: str
    events: list[Event] = field(default_factory=list)
    entries: list[tuple[str, int, int, Sizes]] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    aliases: dict[int, Span] = field(default_factory=dict)
    returned: dict[int, Span] = field(default_factory=dict)
    misbound: dict[tuple[Span, str, str], Misbound] = field(default_factory=dict)
    handed_back: dict[Span, tuple[str, Operand]] = field(default_factory=dict)
    tested: dict[Span, Tested] = field(default_factory=dict)
    look: Callable[[], Written] = Written

    @property
    def written(self) -> Written:
        return self.look()

    def source(self, span: Span) -> str:
        """The text of a span, its line breaks and indentation folded into single blanks; "" in another file."""
        return "" if span.path else self._cut(self.text, span)

    def source_anywhere(self, span: Span) -> str:
        """The text of a span, be it in another file that was read."""
        return self._cut(self.texts.get(span.path, "") if span.path else self.text, span)

    @staticmethod
    def _cut(text: str, span: Span) -> str:
        lines = _lines(text)[span.line - 1 : span.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return " ".join(line.strip() for line in lines) if len(lines) > 1 else lines[0]
