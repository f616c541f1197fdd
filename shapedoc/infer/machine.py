"""The state of an analysis, and the recording of events.

The machine walks the ir. What it does for each kind of node stands in `expressions`, `statements` and `calls`, which
register themselves in `EVALUATE` and `EXECUTE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import DictValue, Int, Layer, Seq, Tensor, Unknown, Value
from shapedoc.core.verdict import Conflict
from shapedoc.core.verdict import Unknown as UnknownVerdict
from shapedoc.infer.values import Class, Function, Instance, LocalModule
from shapedoc.infer.verdicts import may_be_several, undoubted
from shapedoc.ops.bind import Arguments, Outcome, evaluate
from shapedoc.ops.registry import Op, find
from shapedoc.source import ir

__all__ = ["EVALUATE", "EXECUTE", "Arg", "Budget", "Frame", "Machine", "Signal", "Sources", "span_of"]

Signal = str  # "" falls through; "return", "break", "continue", "raise"

EVALUATE: dict[type, Callable[..., Value]] = {}
EXECUTE: dict[type, Callable[..., Signal]] = {}


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
    """One call of a function: its variables, what it has returned so far, what names in its comments stand for."""

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


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument of a call: its value, and where it stands in the source."""

    value: Value
    node: ir.Expr | None = None


class Machine:
    """One analysis of one file; `begin` starts an entry with nothing known of sizes."""

    max_depth = 14
    max_steps = 10_000

    def __init__(self, trace: Trace, sources: Sources) -> None:
        self.trace = trace
        self.sources = sources
        self.sizes = Sizes()
        self.globals: dict[str, Value] = {}
        self.frames: list[Frame] = []
        self.calls: tuple[Call, ...] = ()
        self.loops: tuple[tuple[int, int], ...] = ()
        self.branch: tuple[int, ...] = ()
        self.journal: list[tuple[dict[str, Value], str, Value | None]] = []
        self.executed: set[int] = set()
        self.steps = 0
        self.path = ""
        self.call_count = 0
        self.branch_count = 0
        self.target = ""
        self.driver = False
        self.libraries: set[str] = set()
        # What a constructor's parameters were asked for (``mode == "dot"``, ``if flag``), and those that configure layers.
        self.asked: dict[str, list[bool | str]] = {}
        self.configures: set[str] = set()
        # Events whose operands did not fit, and all that came of them.
        self.spoilt: set[int] = set()
        # Tensors (their uid) whose rank rests on what the author states of them.
        self.described: set[int] = set()
        self.last_shape: tuple[Tensor, Value] | None = None
        self.load: Callable[[Machine, ir.Import], dict[str, Value]] | None = None
        self.after_assign: Callable[[Machine, ir.Stmt], None] | None = None
        self.on_call: Callable[[Machine, Function, Frame], None] | None = None
        self.on_return: Callable[[Machine, Function, Value], Value] | None = None

    # -- walking

    def begin(self) -> None:
        """Start an entry: nothing is known, nothing has been walked."""
        self.sizes = Sizes()
        self.calls, self.loops, self.branch = (), (), ()
        self.steps = 0
        self.spoilt = set()
        self.journal = []
        self.target = ""

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

    def ask(self, parameter: str, value: bool | str) -> None:
        """Remember that the program asks whether a parameter is this value."""
        answers = self.asked.setdefault(parameter, [])
        if value not in answers:
            answers.append(value)

    def take_back(self, mark: int) -> None:
        """Undo what was written to objects since the journal was `mark` long."""
        for attributes, name, old in reversed(self.journal[mark:]):
            if old is None:
                attributes.pop(name, None)
            else:
                attributes[name] = old
        del self.journal[mark:]

    # -- recording

    def operate(
        self,
        name: str,
        node: ir.Expr | ir.Stmt,
        args: Sequence[Arg],
        keywords: Mapping[str, Arg] | None = None,
        *,
        rest: bool = False,
    ) -> Value:
        """Evaluate the op of this qualified name and record the event."""
        op = find(name)
        if op is None:
            return self.unknown_call(name, node, args, keywords or {})
        return self.record(op, name, node, args, keywords or {}, rest=rest)

    def record(
        self,
        op: Op,
        name: str,
        node: ir.Expr | ir.Stmt,
        args: Sequence[Arg],
        keywords: Mapping[str, Arg],
        *,
        layer: Layer | None = None,
        rest: bool = False,
    ) -> Value:
        """Evaluate an op and record the event."""
        arguments = Arguments([a.value for a in args], {k: a.value for k, a in keywords.items()}, rest)
        outcome = evaluate(op, arguments, self.sizes, node.span[0], layer)
        operands = self._operands(outcome, args, keywords)
        if layer is not None:
            operands = (Operand("self", layer, span=layer.span), *operands)
        verdict = outcome.verdict
        result = self._own(verdict.value, args, keywords)
        if isinstance(verdict, UnknownVerdict) and may_be_several(name):
            # One tensor, or a tuple of them: nothing says that what it is unpacked into are rows.
            result = Unknown(verdict.reason, (len(self.trace.events),))
        if name.startswith("numpy.") and isinstance(result, Tensor):
            result.library = "numpy"
        problems = verdict.problems if isinstance(verdict, Conflict) else ()
        spoilt = self.spoilt and any(self._spoilt(o.value) for o in operands)
        if spoilt:
            problems = ()  # A consequence of one that has been reported.
        if self.described and problems:
            problems = undoubted(problems, operands, self.described)
        lost = verdict.reason if isinstance(verdict, UnknownVerdict) else ""
        if lost:
            self.trace.unknown[f"{name}: {lost}"] = self.trace.unknown.get(f"{name}: {lost}", 0) + 1
        event = self.emit(name, node, operands, result)
        event.problems, event.lost = problems, lost
        if event.short in _LAID_OUT:
            self._set_apart(result)
        if spoilt or any(_spoils(p) for p in problems):
            self.spoilt.add(event.index)
        return result

    def _set_apart(self, result: Value) -> None:
        """The sizes that the author lists as the axes of one tensor are different quantities.

        Two sizes of one constructor (a weight's) may still be equal on purpose.
        """
        if isinstance(result, Tensor) and result.shape.run is None:
            dims = [a.dim for a in result.shape.axes if a.dim.named or a.dim.sym is not None]
            owners = {s.owner for d in dims for s in d.syms}
            flexible = any(s.flexible for d in dims for s in d.syms)
            if len(dims) > 1 and (len(result.shape.items) > 2 or len(owners) > 1 or flexible):
                self.sizes.apart(*dims)

    def _spoilt(self, value: Value) -> bool:
        match value:
            case Tensor():
                return value.event in self.spoilt
            case Unknown():
                return any(e in self.spoilt for e in value.events)
            case Seq():
                return any(self._spoilt(v) for v in value.items)
        return False

    def emit(self, name: str, node: ir.Expr | ir.Stmt, operands: tuple[Operand, ...], result: Value) -> Event:
        """Append an event whose result has been worked out."""
        events = self.trace.events
        event = Event(
            len(events),
            name,
            span_of(node, self.path),
            operands,
            result,
            function=self.function,
            calls=self.calls,
            target=self.target,
            loops=self.loops,
            branch=self.branch,
            sizes=self.sizes,
            shape=result.shape if isinstance(result, Tensor) else None,
        )
        events.append(event)
        _claim(result, event.index)
        return event

    def unknown_call(
        self, name: str, node: ir.Expr | ir.Stmt, args: Sequence[Arg], keywords: Mapping[str, Arg]
    ) -> Value:
        """Record a call that is not in the table; the result still knows what it came from."""
        reason = f"no op for {name}"
        if not any(_holds_tensor(a.value) for a in (*args, *keywords.values())):
            return Unknown(reason)
        self.trace.unknown[reason] = self.trace.unknown.get(reason, 0) + 1
        operands = tuple(self._operand(str(i), a.value, a.node) for i, a in enumerate(args))
        operands += tuple(self._operand(k, a.value, a.node) for k, a in keywords.items())
        event = self.emit(name, node, operands, Unknown(reason))
        event.lost = reason
        result = Unknown(reason, (event.index,))
        event.result = result
        return result

    def _operands(self, outcome: Outcome, args: Sequence[Arg], keywords: Mapping[str, Arg]) -> tuple[Operand, ...]:
        out = []
        for name, value in outcome.bound.items():
            place = outcome.places[name]
            if isinstance(place, str):
                arg = keywords.get(place)
            else:
                arg = args[place] if place < len(args) else None
            node = arg.node if arg else None
            if node is not None and arg is not None and value is not arg.value:
                node = args[place].node if isinstance(place, int) and isinstance(value, Seq) and value.items else node
            operand = self._operand(name, value, node)
            if isinstance(place, int) and isinstance(value, Seq) and arg is not None and value is not arg.value:
                parts = [self._operand(f"{name}[{i}]", a.value, a.node) for i, a in enumerate(args[place:])]
                operand = replace(operand, parts=tuple(parts))
            out.append(operand)
        return tuple(out)

    def _operand(self, name: str, value: Value, node: ir.Expr | None) -> Operand:
        tensor = value
        if not isinstance(value, Tensor):
            as_tensor = getattr(value, "_tensor", None)
            tensor = as_tensor if isinstance(as_tensor, Tensor) else value
        shape = tensor.shape if isinstance(tensor, Tensor) else None
        span = span_of(node, self.path) if node is not None else None
        return Operand(name, tensor, span=span, shape=shape, parts=self._parts(name, value, node))

    def _parts(self, name: str, value: Value, node: ir.Expr | None) -> tuple[Operand, ...]:
        """The elements of a list that is written out."""
        if not isinstance(value, Seq) or not isinstance(node, ir.Sequence) or len(node.items) != len(value.items):
            return ()
        if any(isinstance(item, ir.Starred) for item in node.items):
            return ()
        pairs = zip(value.items, node.items, strict=True)
        return tuple(self._operand(f"{name}[{i}]", item, part) for i, (item, part) in enumerate(pairs))

    def _own(self, value: Value, args: Sequence[Arg], keywords: Mapping[str, Arg]) -> Value:
        """The result as a value of its own, where the op handed an argument through."""
        if isinstance(value, Tensor):
            if value.event >= 0 or any(a.value is value for a in args) or value.learned:
                return replace_tensor(value)
            return value
        if isinstance(value, Seq):
            return Seq(tuple(self._own(v, args, keywords) for v in value.items), value.kind, value.rest, value.length)
        return value

    def phi(self, node: ir.Stmt | ir.Expr | None, values: Sequence[Tensor], shape: Shape) -> Tensor:
        """The tensor that stands for several, one of each branch or round."""
        first = values[0]
        kind = first.kind if all(v.kind == first.kind for v in values) else ""
        result = Tensor(shape, kind, first.library, learned=all(v.learned for v in values), name=first.name)
        operands = tuple(Operand(str(i), v, shape=v.shape) for i, v in enumerate(values))
        span = node.span if node is not None else (0, 0, 0, 0)
        event = Event(
            len(self.trace.events),
            "phi",
            Span(*span, self.path),
            operands,
            result,
            function=self.function,
            calls=self.calls,
            loops=self.loops,
            branch=self.branch,
            sizes=self.sizes,
            shape=shape,
        )
        self.trace.events.append(event)
        result.event = event.index
        return result

    def wrong_rank(self, tensor: Tensor, wanted: int, got: int, node: ir.Expr) -> None:
        """Record that a tensor's sizes were unpacked into another number of names."""
        if tensor.uid in self.described:
            return
        operand = Operand("input", tensor, shape=tensor.shape)
        event = self.emit("unpack", node, (operand,), Unknown("unpacking of another length"))
        event.problems = (Problem("wrong-rank", ("input",), detail={"wanted": str(wanted), "got": str(got)}),)

    def fresh_int(self, name: str = "", line: int = 0) -> Int:
        """A whole number of which nothing is known."""
        return Int(self.sizes.fresh(name, owner=self.function, line=line), name)

    def name_size(self, value: Int, name: str, line: int, owner: str) -> Int:
        """Give a name to a size that nobody named yet: an unknown one, or a literal that is put into a variable."""
        dim = self.sizes.resolve(value.dim)
        sym = dim.sym
        if sym is not None and not sym.name and sym.flexible and name.strip("_"):
            named = self.sizes.fresh(name, owner=owner, line=line)
            self.sizes.bind(sym, named)
            return Int(named, name)
        if sym is not None and not sym.flexible and "//" in sym.name:
            sym.name = name
        return Int(dim, name)


def replace_tensor(tensor: Tensor) -> Tensor:
    """The same tensor as a new value."""
    return Tensor(
        tensor.shape,
        tensor.kind,
        tensor.library,
        learned=tensor.learned,
        order=tensor.order,
        source=tensor.source if tensor.source.startswith("packed sequence") else "",
        number=tensor.number,
    )


def _spoils(problem: Problem) -> bool:
    """Whether what comes of a problem says nothing any more: the operands certainly do not fit."""
    if problem.kind in _HARMLESS:
        return False
    if problem.kind == "reversed-axes":
        return True
    return problem.sameness.wrong if problem.sameness is not None else problem.loud


# Ops whose result has the axes that the author lists.
_LAID_OUT = frozenset(
    "view reshape expand broadcast_to zeros ones empty full rand randn randint normal new_zeros new_ones new_full "
    "standard_normal random".split()
)
_HARMLESS = frozenset(
    ("scrambled-view", "squeeze-unknown", "implicit-softmax-axis", "view-after-transpose", "loss-broadcast")
)


def _holds_tensor(value: Value) -> bool:
    match value:
        case Tensor():
            return True
        case Seq():
            return any(_holds_tensor(v) for v in value.items) or (value.rest is not None and _holds_tensor(value.rest))
        case DictValue():
            return any(_holds_tensor(v) for v in value.items.values())
        case Unknown():
            return bool(value.events)
    return bool(getattr(value, "used_as_tensor", False))


def _claim(value: Value, index: int) -> None:
    match value:
        case Tensor():
            if value.event < 0:
                value.event = index
        case Seq():
            for item in value.items:
                _claim(item, index)
        case DictValue():
            for item in value.items.values():
                _claim(item, index)
        case Layer():
            if value.event < 0:
                value.event = index
        case _:
            pass


def span_of(node: ir.Expr | ir.Stmt, path: str = "") -> Span:
    """A node's span; `path` where the node is of another file."""
    key = (node.span, path)
    span = _spans.get(key)
    if span is None:
        if len(_spans) > 100_000:
            _spans.clear()
        span = _spans[key] = Span(*node.span, path)
    return span


_spans: dict[tuple[ir.Span4, str], Span] = {}


def lift(value: Value, name: str, owner: str, line: int) -> Value:
    """A literal that is passed to a parameter, as a size of the parameter's name that knows its number."""
    if isinstance(value, Int):
        const = value.dim.const
        if const is not None and const > 1:
            return Int(Dim.of(Sym(name, value=const, owner=owner, origin=f"{name} = {const}", line=line)), name)
    return value
