"""What is analysed in a file: its driver code, every class by itself, every function that nobody called.

An entry is walked more than once: what the first walk learns of a parameter from its later uses (its rank, its
sizes), the next one starts with. Only the last walk's events stay in the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial

from shapedoc.core.sizes import Kind, Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.core.value import Bool, Int, Seq, Str, Tensor, Unknown, Value
from shapedoc.infer.entries.assembled import walk_assembled
from shapedoc.infer.entries.given import modules_given, parameters, takes_any
from shapedoc.infer.entries.imports import defines, load_library
from shapedoc.infer.entries.learnt import is_clearer, learnt
from shapedoc.infer.entries.refused import built_with
from shapedoc.infer.evidence.lineage import touches
from shapedoc.infer.evidence.recalled import ranks_of
from shapedoc.infer.evidence.verdicts import of_rank
from shapedoc.infer.machine import Arg, Budget, Frame, Machine, Sources, called
from shapedoc.infer.nodes import assignments, builtin_types, calls, expressions, loops, operators, packages, statements
from shapedoc.infer.noticed.expected import fails
from shapedoc.infer.stated.statements import Statements
from shapedoc.infer.supposed.batched import is_open
from shapedoc.infer.unread.replaced import replaced
from shapedoc.infer.values import Class, Function, Instance, Symbolic
from shapedoc.source import ir
from shapedoc.source.written import written

__all__ = ["Sources", "analyse"]

_REGISTERED = (assignments, builtin_types, calls, expressions, loops, operators, packages, statements)
_PASSES = 3
_VARIANTS = 4
# Steps: what the walks of one class with other answers may take, up to where a walk costs little, and from where on
# there is not one more.
_BUDGET = 2_000
_CHEAP = 300
_DEAR = 3_000

Loader = Callable[[Machine, ir.Import], dict[str, Value]]


def analyse(
    module: ir.Module,
    text: str,
    path: str,
    sources: Sources | None = None,
    loader: Loader | None = None,
    only: str = "",
) -> Trace:
    """Walk a file and return what its tensor operations saw and made.

    only: the one class or function that is walked by itself; "" for all of them.
    """
    trace = Trace(path, text, look=cache(partial(written, module)))
    m = Machine(trace, sources or Sources())
    m.load = loader or load_library
    Statements(module, m)
    Walk(m, module).all(only)
    return trace


@dataclass(slots=True)
class Answer:
    """Another value of a parameter that the program asks for, and the branches that it decides (ids).

    given: to the constructor. called: to ``forward``.
    """

    given: dict[str, Value]
    branches: set[int]
    called: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True)
class Asked:
    """A class with a ``forward``, the other answers to what it asks, and the steps that one walk takes."""

    cls: Class
    forward: Function
    answers: list[Answer]
    cost: int


@dataclass(slots=True)
class Walk:
    """The entries of one file."""

    m: Machine
    module: ir.Module
    # The functions that the constructor of the class at hand has run, by the id of their nodes.
    built: set[int] = field(default_factory=set)
    # Events that rest on what the author states of a parameter of their entry.
    stated: set[int] = field(default_factory=set)
    # How each entry was walked, by the index of its first event.
    walks: dict[int, tuple[Runner, Sizes]] = field(default_factory=dict)

    def all(self, only: str = "") -> None:
        self._file()
        definitions = [v for name, v in self.m.globals.items() if only in ("", name)]
        self.m.executed.clear()
        classes = [value for value in definitions if isinstance(value, Class) and value.module is None]
        asked = [self._class(cls) for cls in classes]
        for value in definitions:
            if isinstance(value, Function) and value.module is None and self._is_new(value):
                self.m.asked = {}
                given, sizes = self._given(value)
                cost = self._entry(value.name, self._function(value, given), sizes)
                for answer in self._unseen(value, cost):
                    chosen = {name: Arg(flag) for name, flag in answer.called.items()}
                    self._entry(value.name, self._function(value, given | chosen), sizes)
        for questions in asked:
            if questions is not None:
                self._variants(questions)
        self._disbelieve()

    def _file(self) -> None:
        """Definitions, and driver code with its real numbers."""
        m = self.m
        m.begin()
        m.driver = m.sizes.driven = True
        m.globals["__name__"] = Str("__main__" if m.sources.driver else "imported")
        m.frames = [Frame("", m.globals, {})]
        body = self.module.body if m.sources.driver else [s for s in self.module.body if defines(s)]
        start = len(m.trace.events)
        for statement in body:
            try:
                m.run([statement])
            except (Budget, RecursionError):
                m.steps = 0
                continue
        m.doubt(start)
        m.trace.entries.append(("", start, len(m.trace.events), m.sizes))
        m.driver = False
        m.lasting = m.sizes.lasting()

    def _class(self, cls: Class) -> Asked | None:
        """Build an object with the constructor's own names, then walk ``forward`` and what it does not call."""
        m = self.m
        m.asked, m.configures = {}, set()
        before = m.spent + m.steps
        instance, sizes = self._build(cls, {})
        found = cls.find("forward") or cls.find("__call__")
        forward = found[0] if found is not None and isinstance(found[0], Function) else None
        if forward is not None:
            self._entry(cls.name, self._method(instance, forward), sizes)
        cost = m.spent + m.steps - before
        for name, member in cls.members.items():
            if not isinstance(member, Function) or not self._is_new(member) or name.startswith("__"):
                continue
            took = self._entry(f"{cls.name}.{name}", self._method(instance, member), sizes)
            for answer in self._unseen(member, took):
                self._entry(f"{cls.name}.{name}", self._method(instance, member, answer.called), sizes)
        return Asked(cls, forward, [*self._answers(cls), *self._flags(forward)], cost) if forward is not None else None

    def _variants(self, asked: Asked) -> None:
        """Where the program asks what a parameter is (``if self.score == "general"``), walk the other answers too.

        What is right for one need not be for another. Where a walk is dear, as of a class that puts a model together,
        a branch that has been walked both ways, as a caller or another answer decided it, needs no walk more, and few
        answers are walked, or none.
        """
        one, other = self.m.sides
        for answer in asked.answers[: _affordable(asked.cost)]:
            if asked.cost < _CHEAP or not answer.branches <= (one & other):
                built = built_with(self.m, self._build, asked.cls, answer.given)
                if built is not None:
                    self._entry(asked.cls.name, self._method(built[0], asked.forward, answer.called), built[1])

    def _is_new(self, function: Function) -> bool:
        """Whether nothing has called a function, and it is not meant to fail."""
        if id(function.node) in self.m.executed:
            return False
        return not (isinstance(function.node, ir.FunctionDef) and fails(function.node))

    def _answers(self, cls: Class) -> list[Answer]:
        """Other values of the constructor's parameters that the program asks for, one at a time."""
        builder = cls.find("__init__")
        if builder is None or not isinstance(builder[0], Function):
            return []
        names = {p.name for p in builder[0].node.params} - self.m.configures
        answers: list[Answer] = []
        for name, values in self.m.asked.items():
            for value, branches in values.items() if name in names else ():
                default = builder[0].defaults.get(name)
                if isinstance(default, Int):
                    answers.append(Answer({name: Symbolic(name, cls.name, size=True).as_int()}, branches))
                elif not (isinstance(default, Str | Bool) and default.value == value):
                    given = Str(value) if isinstance(value, str) else Bool(bool(value))
                    answers.append(Answer({name: given}, branches))
        return answers[:_VARIANTS]

    def _flags(self, forward: Function) -> list[Answer]:
        """Other values of the flags of a function, such as ``forward``, that the program asks for, one at a time."""
        answers = []
        for p in forward.node.params:
            for value, branches in self.m.asked.get(called(p.name), {}).items():
                if isinstance(value, bool) and p.name in forward.defaults:
                    answers.append(Answer({}, branches, {p.name: Bool(value, called(p.name))}))
        return answers[:_VARIANTS]

    def _unseen(self, function: Function, cost: int) -> list[Answer]:
        """The flags of a function that nobody calls whose other value leads into a branch that no walk has seen.

        cost: the steps that the walk over the function has taken.
        """
        one, other = self.m.sides
        answers = [answer for answer in self._flags(function) if not answer.branches <= (one & other)]
        return answers[: _affordable(cost)]

    def _build(self, cls: Class, chosen: Mapping[str, Value]) -> tuple[Instance, Sizes]:
        m = self.m
        m.begin()
        walked, m.executed = m.executed, set()
        m.frames = [Frame("", m.globals, {})]
        instance = Instance(cls, open=True)
        builder = cls.find("__init__")
        start = len(m.trace.events)
        if builder is not None and isinstance(builder[0], Function):
            args = parameters(m, builder[0], {}, size=m.sources.constructor, skip=1)
            args.update({name: Arg(value) for name, value in chosen.items()})
            with suppress(Budget, RecursionError):
                args.update(modules_given(m, builder[0], (cls,)))
                passed = takes_any(builder[0])
                calls.invoke(m, builder[0], [Arg(instance)], args, builder[0].node_expression, rest=passed)
        m.trace.entries.append((f"{cls.name}.__init__", start, len(m.trace.events), m.sizes))
        self.built, m.executed = m.executed, walked | m.executed
        return instance, m.sizes

    def _method(self, instance: Instance, function: Function, given: Mapping[str, Value] | None = None) -> Runner:
        static = function.role == "static"
        chosen = {name: Arg(value) for name, value in (given or {}).items()}

        def run(symbols: dict[str, Symbolic]) -> None:
            args = parameters(self.m, function, symbols, size=False, skip=0 if static else 1) | chosen
            for name in replaced(instance.cls, instance.attributes, function, self.built):
                self.m.set_attribute(instance, name, Unknown(f"`{name}` is set by another call"))
            given, passed = [] if static else [Arg(instance)], takes_any(function)
            calls.invoke(self.m, function, given, args, function.node_expression, rest=passed)

        return run

    def _given(self, function: Function) -> tuple[dict[str, Arg], Sizes]:
        """The modules that a function is given, built once for all walks over it."""
        m = self.m
        m.begin()
        m.frames = [Frame("", m.globals, {})]
        walked, m.executed = m.executed, set()
        start = len(m.trace.events)
        given: dict[str, Arg] = {}
        with suppress(Budget, RecursionError):
            given = modules_given(m, function, (), skip=0)
        if len(m.trace.events) > start:
            m.trace.entries.append((f"{function.name}.given", start, len(m.trace.events), m.sizes))
        m.executed = walked
        return given, m.sizes

    def _function(self, function: Function, given: Mapping[str, Arg]) -> Runner:
        def run(symbols: dict[str, Symbolic]) -> None:
            args = {**parameters(self.m, function, symbols, size=False, skip=0), **given}
            passed = takes_any(function)
            made = calls.invoke(self.m, function, [], args, function.node_expression, rest=passed)
            walk_assembled(self.m, made, symbols)

        return run

    def _entry(self, name: str, run: Runner, sizes: Sizes) -> int:
        """Walk an entry; what was doubted because it rests on a statement counts where it shows without one too.

        Gives the steps that it took.
        """
        m = self.m
        start, before = len(m.trace.events), m.spent + m.steps
        self._walks(run, sizes)
        m.doubt(start, name)
        self.stated |= m.tentative
        if m.doubted and m.sources.comments:
            self._without_statements(run, sizes)
        self.walks[start] = (run, sizes)
        m.trace.entries.append((name, start, len(m.trace.events), m.sizes))
        return m.spent + m.steps - before

    def _disbelieve(self) -> None:
        """Take back what rests on the statements of a function that is seen to be called with something else.

        What a walk finds too that believes no statement stays.
        """
        trace = self.m.trace
        wrong = {s.function for s in trace.stated if s.rank_differs and s.verdict.kind is Kind.NEVER}
        for name, start, end, _ in trace.entries if self.stated and wrong else ():
            if name in wrong or f"{name}.forward" in wrong:
                doubted = [(e, e.problems) for e in trace.events[start:end] if e.index in self.stated]
                some = start in self.walks and any(problems for _, problems in doubted)
                found = self._found_without(*self.walks[start]) if some else set()
                for event, problems in doubted:
                    event.problems = tuple(p for p in problems if (event.span, p.kind) in found)
                    event.doubtful = not event.problems

    def _walks(self, run: Runner, sizes: Sizes) -> None:
        """Walk, starting from what is known of `sizes`, until another walk would see nothing new."""
        m = self.m
        symbols: dict[str, Symbolic] = {}
        start, stated, unknown = len(m.trace.events), len(m.trace.stated), dict(m.trace.unknown)
        known: dict[int, str] = {}
        rounds, m.supposing, m.recalled = _PASSES if m.sources.later_use else 1, False, {}
        while rounds:
            rounds -= 1
            del m.trace.events[start:]
            del m.trace.stated[stated:]
            m.trace.unknown = dict(unknown)
            m.begin()
            m.mistrusted = {}
            m.sizes = sizes.fork()
            m.frames = [Frame("", m.globals, {})]
            whole = self._walked(run, symbols)
            m.take_back(0)
            if not whole:
                break
            m.recalled = ranks_of(m.trace.events[start:], m.sizes, m.surmises, m.tentative) | m.recalled
            now = learnt(m, symbols)
            done = now == known or not is_clearer(m, start) or not rounds
            known = now
            if done and any(is_open(m, t) for t in m.batchless) and m.sources.later_use:
                rounds, m.supposing = _PASSES - 1, True
            elif done:
                break
        m.supposing, m.recalled = False, {}

    def _walked(self, run: Runner, symbols: dict[str, Symbolic]) -> bool:
        """Walk once; whether it came to the end."""
        try:
            run(symbols)
        except (Budget, RecursionError):
            return False
        return True

    def _found_without(self, run: Runner, sizes: Sizes) -> set[tuple[Span, str]]:
        """The kinds of problems, and where they are, that a walk finds which believes no statement."""
        m, trace = self.m, self.m.trace
        start, stated = len(trace.events), len(trace.stated)
        learnt, unknown, sources = m.sizes, dict(trace.unknown), m.sources
        m.sources = replace(sources, comments=False)
        try:
            self._walks(run, sizes)
        finally:
            m.sources = sources
        found = {(e.span, p.kind) for e in trace.events[start:] for p in e.problems}
        del trace.events[start:]
        del trace.stated[stated:]
        trace.unknown, m.sizes = unknown, learnt
        return found

    def _without_statements(self, run: Runner, sizes: Sizes) -> None:
        """Walk once more, believing no statement, and put the doubted problems that are there again where they were."""
        m = self.m
        doubted, unstated = m.doubted, m.surmises.events | self._of_one_branch()
        found = self._found_without(run, sizes)
        for index, problem in doubted:
            event = m.trace.events[index]
            if (event.span, problem.kind) in found:
                event.problems, event.doubtful = (*event.problems, problem), False
            elif index in unstated:
                continue  # what is known at second hand, or of one branch, is stated nowhere
            elif (ranks := of_rank(problem)) is not None:
                event.problems = (*event.problems, replace(problem, kind="stated-rank", loud=False, detail=ranks))

    def _of_one_branch(self) -> set[int]:
        """The doubted events whose ranks one branch knows, and none of which is stated."""
        m = self.m
        stated = m.tentative - m.one_sided
        return {
            index
            for index in {i for i, _ in m.doubted}
            if (index in m.one_sided or touches(m.trace.events[index].operands, m.one_sided))
            and not any(
                isinstance(v, Tensor) and (v.uid in m.described or v.event in stated)
                for o in m.trace.events[index].operands
                for v in (o.value.items if isinstance(o.value, Seq) else (o.value,))
            )
        }


def _affordable(cost: int) -> int:
    """How many walks more, with other answers, what takes so many steps may have."""
    return _BUDGET // (cost + 1) or int(cost < _DEAR)


Runner = Callable[[dict[str, Symbolic]], None]
