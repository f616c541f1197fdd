"""The state of an analysis, and the recording of events.

The machine walks the ir. What it does for each kind of node stands in `expressions`, `statements`, `assignments`,
`loops` and `calls`, which register themselves in `EVALUATE` and `EXECUTE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.sizes import ABSENT, Sizes
from shapedoc.core.trace import Trace
from shapedoc.core.value import Int, Layer, Seq, Str, Tensor, Value
from shapedoc.infer.operands import Arg, replace_tensor
from shapedoc.infer.questions import Answer
from shapedoc.infer.recorder import Recorder
from shapedoc.infer.spans import span_of
from shapedoc.infer.values import Class, Container, Function, Instance, LocalModule, Setting
from shapedoc.source import ir

__all__ = [
    "EVALUATE",
    "EXECUTE",
    "Arg",
    "Budget",
    "Frame",
    "Machine",
    "Signal",
    "Sources",
    "called",
    "evaluator",
    "executor",
    "replace_tensor",
    "span_of",
]

Signal = str  # "" falls through; "return", "break", "continue", "raise"

EVALUATE: dict[type, Callable[..., Value]] = {}
EXECUTE: dict[type, Callable[..., Signal]] = {}


def called(parameter: str) -> str:
    """How a parameter of ``forward`` is told from one of the constructor's among those that are asked for."""
    return f"{parameter}()"


def evaluator(kind: type) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register the function for a node kind."""

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        EVALUATE[kind] = function
        return function

    return register


def executor(kind: type) -> Callable[[Callable[..., Signal]], Callable[..., Signal]]:
    """Register the function for a node kind."""

    def register(function: Callable[..., Signal]) -> Callable[..., Signal]:
        EXECUTE[kind] = function
        return function

    return register


@dataclass(frozen=True, slots=True)
class Sources:
    """Which sources of knowledge are used; each can be switched off, and that never adds a finding."""

    comments: bool = True
    driver: bool = True
    constructor: bool = True
    unpacking: bool = True
    later_use: bool = True


class Budget(Exception):
    """The analysis of one entry became too long."""


@dataclass(slots=True)
class Frame:
    """One call of a function: its variables, what it has returned so far, what names in its comments stand for.

    answers: what the branches of its tests learnt, for when a test is asked again. parted: what was known of sizes
    where a branch returned that a test of a shape chose.
    """

    function: str
    variables: dict[str, Value]
    closure: Mapping[str, Value]
    owner: Class | None = None
    receiver: Value | None = None
    module: LocalModule | None = None
    returned: list[Value] = field(default_factory=list)
    node: ir.FunctionDef | ir.Lambda | None = None
    globals_: frozenset[str] = frozenset()
    names: dict[str, Dim] = field(default_factory=dict)
    answers: dict[tuple[str, bool], list[Answer]] = field(default_factory=dict)
    parted: list[Sizes] = field(default_factory=list)


class Machine(Recorder):
    """One analysis of one file; `begin` starts an entry with nothing known of sizes."""

    max_depth = 14
    max_steps = 10_000

    def __init__(self, trace: Trace, sources: Sources) -> None:
        super().__init__(trace)
        self.sources = sources
        self.globals: dict[str, Value] = {}
        # What is known of the settings of the file, whichever entry is walked.
        self.lasting = Sizes()
        self.frames: list[Frame] = []
        self.journal: list[tuple[dict[str, Value], str, Value | None]] = []
        self.executed: set[int] = set()
        # What the entry at hand has taken, and all before it.
        self.steps = self.spent = 0
        self.call_count = 0
        self.branch_count = 0
        self.driver = False
        # Inputs of sequence modules that may lack a batch, and whether this walk supposes that none does.
        self.batchless: list[Tensor] = []
        self.supposing = False
        # How many ``try`` statements are around: what stands in one may be there to see whether it raises.
        self.watched = 0
        # Whether some module is given another forward: a library's need not do what it does then.
        self.patched = False
        # Comparisons that decide a branch, by file and place.
        self.conditions: set[tuple[str, ir.Span4]] = set()
        # Numbers that were taken out of tensors of floats, and those tensors, by the number (its id).
        self.taken_out: dict[int, tuple[Value, Tensor]] = {}
        # Loops whose rounds stand for any number of them, and how many where that is known.
        self.repeating: dict[int, Dim | None] = {}
        self.libraries: set[str] = set()
        # What a constructor's parameters were asked for (``mode == "dot"``, ``if flag``), and those that configure
        # layers.
        self.asked: dict[str, dict[bool | str | int, set[int]]] = {}
        self.configures: set[str] = set()
        self.settings: dict[str, Setting] = {}
        # The branch whose test is being evaluated (its id, 0 for none), and those that have been walked, by side.
        self.testing = 0
        # The tests that certainly refuse what the walk at hand is given: asserts that fail, ``if`` that raises.
        self.refused: list[ir.Expr] = []
        self.sides: tuple[set[int], set[int]] = (set(), set())
        # What was used before anything had set it, in the branch at hand: the depth of the frame, and the name.
        self.unbound: frozenset[tuple[int, str]] = frozenset()
        # The last ``x.shape`` of known rank, its sizes, and how many other values stand beside them.
        self.last_shape: tuple[Tensor, Value, int] | None = None
        self.load: Callable[[Machine, ir.Import], dict[str, Value]] | None = None
        self.after_assign: Callable[[Machine, ir.Stmt], None] | None = None
        self.on_call: Callable[[Machine, Function, Frame], None] | None = None
        self.on_return: Callable[[Machine, Function, Value], Value] | None = None

    # -- walking

    def begin(self) -> None:
        """Start an entry: nothing is known, nothing has been walked."""
        self.sizes = self.lasting.fork()
        self.calls, self.loops, self.branch = (), (), ()
        self.spent += self.steps
        self.steps = self.watched = 0
        self.spoilt = set()
        self.several = {event for event in self.several if event < len(self.trace.events)}
        self.tentative = set()
        self.doubted = []
        self.equated, self.misnamed = {}, set()
        self.one_sided = set()
        self.surmises.begin()
        self.batchless, self.refused = [], []
        self.journal = []

    def eval(self, node: ir.Expr) -> Value:
        """The value of an expression."""
        self.steps += 1
        if self.steps > self.max_steps:
            raise Budget
        return EVALUATE[type(node)](self, node)

    def run(self, body: Sequence[ir.Stmt]) -> Signal:
        """Execute statements until one does not fall through."""
        for statement in body:
            self.steps += 1
            if self.steps > self.max_steps:
                raise Budget
            signal = EXECUTE[type(statement)](self, statement)
            if signal:
                return signal
        return ""

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def function(self) -> str:
        return self.frames[-1].function if self.frames else ""

    # -- variables

    def lookup(self, name: str) -> Value | None:
        """A variable of this frame, of what it closes over, or of its file."""
        frame = self.frames[-1]
        value = frame.variables.get(name)
        if value is None:
            value = frame.closure.get(name)
        if value is None:
            value = (frame.module.names if frame.module else self.globals).get(name)
        return value

    def store(self, name: str, value: Value) -> None:
        """Assign a variable of this frame (or of the file, after ``global``)."""
        frame = self.frames[-1]
        if name in frame.globals_:
            self.globals[name] = value
        else:
            frame.variables[name] = value
        if isinstance(value, Tensor):
            if not value.name:
                value.name = name
        elif isinstance(value, Layer | Instance) and not value.name:
            value.name = name

    def set_attribute(self, instance: Instance, name: str, value: Value) -> None:
        """Assign an attribute, so that a branch can take it back."""
        self.journal.append((instance.attributes, name, instance.attributes.get(name)))
        instance.attributes[name] = value
        if isinstance(value, Tensor | Layer | Instance) and not value.name:
            value.name = f"self.{name}" if isinstance(value, Tensor) else name

    def add_modules(self, container: Container, added: Sequence[Value], name: str = "") -> None:
        """Append modules to a container, or one of this name, so that a branch can take them back."""
        for key, more in (("items", added), ("names", [Str(name)] if name else [])):
            held = container.held[key]
            if more and isinstance(held, Seq):
                self.journal.append((container.held, key, held))
                container.held[key] = Seq((*held.items, *more), held.kind, held.rest)

    def ask(self, parameter: str, value: bool | str | int) -> None:
        """Remember that the program asks whether a parameter is this value."""
        self.asked.setdefault(parameter, {}).setdefault(value, set()).add(self.testing)

    def setting(self, qualified: str) -> Setting:
        """What a file that is not read gives a name to; one object wherever it is named."""
        found = self.settings.get(qualified)
        if found is None:
            found = self.settings[qualified] = Setting(qualified)
        return found

    def take_back(self, mark: int) -> None:
        """Undo what was written to objects since the journal was `mark` long."""
        for attributes, name, old in reversed(self.journal[mark:]):
            if old is None:
                attributes.pop(name, None)
            else:
                attributes[name] = old
        del self.journal[mark:]

    # -- sizes

    def fresh_int(self, name: str = "", line: int = 0) -> Int:
        """A whole number of which nothing is known."""
        return Int(self.sizes.fresh(name, owner=self.function, line=line), name)

    def fresh_count(self, line: int = 0) -> Int:
        """A whole number of which nothing is known, not even that it is more than 0."""
        return Int(self.sizes.fresh(owner=self.function, origin=ABSENT, line=line))

    def name_size(self, value: Int, name: str, line: int, owner: str) -> Int:
        """Give a name to a size that nobody named yet: an unknown one, or a literal that is put into a variable."""
        dim = self.sizes.resolve(value.dim)
        named = self.sizes.called(dim, name, owner=owner, line=line)
        if named is not dim:
            return Int(named, name)
        sym = dim.sym
        if sym is not None and not sym.flexible and "//" in sym.name:
            sym.name = name
        return Int(dim, name, value.place)


def lift(value: Value, name: str, owner: str, line: int) -> Value:
    """A literal that is passed to a parameter, as a size of the parameter's name that knows its number."""
    if isinstance(value, Int):
        const = value.dim.const
        if const is not None and const > 1:
            return Int(Dim.of(Sym(name, value=const, owner=owner, origin=f"{name} = {const}", line=line)), name)
    return value
