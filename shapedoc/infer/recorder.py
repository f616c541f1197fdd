"""The recording of events: operations evaluated, with what went in and what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from shapedoc.core.dim import Sym
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import Layer, Seq, Tensor, Unknown, Value
from shapedoc.core.verdict import Conflict, Verdict
from shapedoc.core.verdict import Unknown as UnknownVerdict
from shapedoc.infer.evidence.laid_out import LAID_OUT, set_apart
from shapedoc.infer.evidence.lineage import (
    among,
    holds_tensor,
    is_join,
    spoils,
    takers_of_stated,
    takes_rank_of,
    touches,
)
from shapedoc.infer.evidence.recalled import Place, recall
from shapedoc.infer.evidence.surmise import Surmises
from shapedoc.infer.evidence.verdicts import (
    Said,
    but_of_ranks,
    concerns,
    is_element,
    is_of_one_rank,
    is_one_or_several,
    keeps_rank_of_all,
    may_be_several,
    said_of_parts,
    undoubted,
    writes_rank,
)
from shapedoc.infer.operands import Arg, as_own, claim, operand_of, operands_of
from shapedoc.infer.spans import span_of
from shapedoc.infer.values import Symbolic
from shapedoc.ops.calling.bind import Arguments, evaluate
from shapedoc.ops.registry import Op, find
from shapedoc.source import ir

__all__ = ["Recorder"]


class Recorder:
    """Writes the events of one analysis to its trace.

    calls, loops, branch: what the walk is inside of. path: the file that it is in, "" for the one under analysis.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.sizes = Sizes()
        self.calls: tuple[Call, ...] = ()
        self.loops: tuple[tuple[int, int], ...] = ()
        self.branch: tuple[int, ...] = ()
        self.path = ""
        # Events whose operands did not fit, and all that came of them.
        self.spoilt: set[int] = set()
        # Tensors (their uid) whose rank rests on what the author states of them.
        self.described: set[int] = set()
        # The names of sizes that are stated of parameters, by the function's names (their id) and the name.
        self.equated: dict[tuple[int, str], Said] = {}
        # Axes (their identities) of tensors made here whose size is known from nothing but a comment.
        self.commented: set[int] = set()
        # Events whose rank is that of one branch only, nothing being known in another, or is but stated, and all that
        # came of them.
        self.tentative: set[int] = set()
        # Problems that were not recorded because they rest on what the author states, and the events (by index).
        self.doubted: list[tuple[int, Problem]] = []
        # Joins along the batch that a module's width speaks against, seen while the widths of their parts were unknown.
        self.beside: set[Span] = set()
        # Of these, the events of which one branch knows the rank, and another nothing.
        self.one_sided: set[int] = set()
        # Events of all walks whose one size may be a tuple of sizes, and what was made of nothing else.
        self.several: set[int] = set()
        # What is known of ranks at second hand, from a tensor whose own is but stated.
        self.surmises = Surmises()
        # Ranks that the walk before this one learnt of what events make.
        self.recalled: dict[Place, int] = {}
        # Names of sizes that are stated, of axes that the code takes for others.
        self.misnamed: set[Sym] = set()
        # Functions whose comments contradict the code or each other, and whether it is what they call that does.
        self.mistrusted: dict[str, bool] = {}

    @property
    def function(self) -> str:
        """The function that is being walked."""
        return ""

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
        runs, bound, self.sizes.function = len(self.sizes.runs), len(self.sizes.bindings), self.function
        several = is_one_or_several(name, args[0].value) if len(args) == 1 else False
        outcome = evaluate(op, arguments, self.sizes, node.span[0], layer)
        operands = operands_of(outcome, args, keywords, self.path)
        if layer is not None:
            operands = (Operand("self", layer, span=layer.span), *operands)
        verdict = outcome.verdict
        result = self._made(name, verdict, args, layer)
        # Before the event is: what is written in place is one object with what it was written to.
        several = several or is_element(name, operands, result)
        several = several or (bool(self.several) and takes_rank_of(operands, self.several, result, self.sizes))
        noticed = problems = verdict.problems if isinstance(verdict, Conflict) else ()
        if problems and self.several and touches(operands, self.several):
            noticed = problems = but_of_ranks(problems)
        spoilt = touches(operands, self.spoilt) if self.spoilt else False
        tentative = touches(operands, self.tentative) if self.tentative else False
        if self.described and not tentative:
            tentative = any(self._is_described(o.value) for o in operands)
        written = writes_rank(name, node)
        rests = tentative and not written and not (is_of_one_rank(name) and self._is_of_branches(operands))
        first_hand = False
        if rests and len(self.sizes.runs) > runs:
            first_hand = keeps_rank_of_all(name) and not self.surmises.rests(self.sizes, operands)
            self.surmises.learnt(self.sizes, runs)
        surmised = self.surmises.rests(self.sizes, operands)
        if problems and (spoilt or tentative or self.described or self.commented or self.equated or self.misnamed):
            problems = self._certain(problems, operands, spoilt=spoilt, tentative=tentative)
        lost = verdict.reason if isinstance(verdict, UnknownVerdict) else ""
        if lost:
            self.trace.unknown[f"{name}: {lost}"] = self.trace.unknown.get(f"{name}: {lost}", 0) + 1
        event = self.emit(name, node, operands, result)
        event.problems, event.lost, event.spoilt = problems, lost, spoilt
        if len(self.sizes.bindings) > bound:
            event.learnt = tuple(islice(reversed(self.sizes.bindings), len(self.sizes.bindings) - bound))
        if surmised:
            if not first_hand and not written:
                self.surmises.events.add(event.index)
            self.doubted.extend((event.index, p) for p in event.problems)
            event.problems, event.doubtful = (), True
        event.withheld = len(event.problems) < len(noticed)
        if event.withheld and not spoilt and self.described and isinstance(result, Tensor):
            result.shape = event.shape = Shape.unknown()  # what is stated and what is done do not go together
        if event.short in LAID_OUT:
            set_apart(self.sizes, event)
        self._hand_on(event, several=several, tentative=rests)
        if self.recalled:
            recall(self.recalled, event, self.sizes)
        return result

    def _made(self, name: str, verdict: Verdict, args: Sequence[Arg], layer: Layer | None) -> Value:
        """What an op has made, as the value that goes on."""
        result = as_own(verdict.value, args)
        if isinstance(verdict, UnknownVerdict) and may_be_several(name):
            # One tensor, or a tuple of them: nothing says that what it is unpacked into are rows.
            result = Unknown(verdict.reason, (len(self.trace.events),))
        if isinstance(result, Tensor):
            if name.startswith("numpy."):
                result.library = "numpy"
            elif layer is not None:
                result.library = "torch"
        return result

    def _hand_on(self, event: Event, *, several: bool, tentative: bool) -> None:
        """Remember what of an event those that use its result have to know."""
        operands = event.operands
        if self.commented:
            self.commented |= said_of_parts(event, self.commented)
        if event.spoilt or (event.problems and any(spoils(p) for p in event.problems)):
            self.spoilt.add(event.index)
        if tentative:
            self.tentative.add(event.index)
            if self.one_sided and touches(operands, self.one_sided):
                self.one_sided.add(event.index)
        if several:
            self.several.add(event.index)

    def _certain(
        self, problems: tuple[Problem, ...], operands: tuple[Operand, ...], *, spoilt: bool, tentative: bool
    ) -> tuple[Problem, ...]:
        """The problems that do not rest on a statement or on one branch alone; the others are kept as doubted."""
        if spoilt:
            return ()  # A consequence of one that has been reported.
        if tentative and any(is_join(self.trace, o.value) for o in operands if among(o.value, self.tentative)):
            sure: tuple[Problem, ...] = ()
        else:
            sure = undoubted(
                problems,
                operands,
                self.described,
                self.commented,
                self.sizes,
                self.equated.values() if self.equated else (),
                tentative=tentative,
            )
            if self.misnamed:
                sure = tuple(p for p in sure if not concerns(p, operands, self.misnamed, self.sizes))
            if len(sure) < len(problems) and self.described:
                self.mistrusted.setdefault(self.function, False)
                takers = takers_of_stated(self.trace, operands, self.tentative, self.described)
                self.mistrusted |= dict.fromkeys((f for f in takers if f != self.function), True)
        self.doubted.extend((len(self.trace.events), p) for p in problems if p not in sure)
        return sure

    def _is_of_branches(self, operands: tuple[Operand, ...]) -> bool:
        """Whether what is not certain of operands is what one branch has alone; none of it is stated."""
        if touches(operands, self.tentative - self.one_sided):
            return False
        return not any(self._is_described(o.value) for o in operands)

    def _is_described(self, value: Value) -> bool:
        """Whether a tensor's rank, or that of one in a list, is but stated."""
        if isinstance(value, Seq):
            return any(self._is_described(v) for v in value.items)
        tensor = value._tensor if isinstance(value, Symbolic) else value
        return isinstance(tensor, Tensor) and tensor.uid in self.described

    def doubt(self, start: int, entry: str = "") -> None:
        """Take back what rests on the comments of a function in which one was found wrong.

        Where a function that it calls speaks against them, all that is made in its calls is taken back, too.
        """
        wrong = self.mistrusted
        whole = wrong.get(entry) or wrong.get(f"{entry}.forward")
        for event in self.trace.events[start:] if wrong else ():
            own = whole or event.function in wrong or any(wrong.get(c.function) for c in event.calls)
            if own and event.index in self.tentative:
                self.doubted.extend((event.index, p) for p in event.problems)
                event.problems, event.doubtful = (), True
        self.mistrusted = {}

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
            loops=self.loops,
            branch=self.branch,
            sizes=self.sizes,
            shape=result.shape if isinstance(result, Tensor) else None,
        )
        events.append(event)
        claim(result, event.index)
        return event

    def changes(self, result: Value) -> None:
        """Record that the event which gave `result` wrote it where its first operand was."""
        if isinstance(result, Tensor) and 0 <= result.event < len(self.trace.events):
            self.trace.events[result.event].in_place = True

    def unknown_call(
        self, name: str, node: ir.Expr | ir.Stmt, args: Sequence[Arg], keywords: Mapping[str, Arg]
    ) -> Value:
        """Record a call that is not in the table; the result still knows what it came from."""
        reason = f"no op for {name}"
        if not any(holds_tensor(a.value) for a in (*args, *keywords.values())):
            return Unknown(reason)
        self.trace.unknown[reason] = self.trace.unknown.get(reason, 0) + 1
        operands = tuple(operand_of(str(i), a.value, a.node, self.path) for i, a in enumerate(args))
        operands += tuple(operand_of(k, a.value, a.node, self.path) for k, a in keywords.items())
        event = self.emit(name, node, operands, Unknown(reason))
        event.lost = reason
        if not name.startswith(_OF_TENSORS):
            event.short = name  # `einx.add` adds by a pattern: whoever else calls a function `add` may mean anything
        result = Unknown(reason, (event.index,))
        event.result = result
        return result

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
        if self.surmises.rests(self.sizes, operands):
            self.surmises.events.add(event.index)
        if self.several and any(v.event in self.several for v in values):
            self.several.add(event.index)
        if any(among(v, self.tentative) for v in values):
            self.tentative.add(event.index)
            if any(among(v, self.one_sided) for v in values):
                self.one_sided.add(event.index)
        if self.recalled:
            recall(self.recalled, event, self.sizes)
        return result

    def leaves(self, node: ir.Expr, value: Value) -> None:
        """Remember where tensors leave the function that made them."""
        if isinstance(value, Tensor):
            self.trace.returned.setdefault(value.uid, span_of(node))
        elif isinstance(value, Seq) and isinstance(node, ir.Sequence) and len(node.items) == len(value.items):
            for item, part in zip(node.items, value.items, strict=True):
                self.leaves(item, part)

    def wrong_rank(self, tensor: Tensor, wanted: int, got: int, node: ir.Expr) -> None:
        """Record that a tensor's sizes were unpacked into another number of names."""
        if tensor.uid in self.described or tensor.event in self.tentative:
            return
        operand = Operand("input", tensor, shape=tensor.shape)
        event = self.emit("unpack", node, (operand,), Unknown("unpacking of another length"))
        event.problems = (Problem("wrong-rank", ("input",), detail={"wanted": str(wanted), "got": str(got)}),)

    def no_such_axis(self, tensor: Tensor, axis: int, rank: int, node: ir.Expr | ir.Stmt) -> None:
        """Record that the size of an axis was asked for which a tensor does not have."""
        if tensor.event in self.spoilt or tensor.event in self.several:
            return
        event = self.emit("size", node, (Operand("input", tensor, shape=tensor.shape),), Unknown("axis out of range"))
        problem = Problem("axis-out-of-range", ("input",), detail={"axis": str(axis), "rank": str(rank)})
        if tensor.uid in self.described or tensor.event in self.tentative:
            self.doubted.append((event.index, problem))
            event.withheld = True
            return
        event.problems = (problem,)
        self.spoilt.add(event.index)


# What the names of ops that rules know begin with, "." where it is a method of a value that is not known.
_OF_TENSORS = ("torch", "numpy", ".")
