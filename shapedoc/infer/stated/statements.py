"""What the author states, brought together with what is inferred.

A stated shape fills a gap in what is known; where the shape is known, its names are learnt, and a disagreement is
recorded: it is the statement that is doubted, never the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shapedoc.core.dim import ZERO, Dim
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Kind, Sameness, Strength
from shapedoc.core.span import Span
from shapedoc.core.trace import Operand, Stated, Unreadable
from shapedoc.core.value import Int, Seq, Tensor, Unknown, Value
from shapedoc.infer.branches.asserted import assume, checked
from shapedoc.infer.machine import Frame, Machine
from shapedoc.infer.stated.arrows import begins_arrow, note_arrow
from shapedoc.infer.stated.elsewhere import Elsewhere
from shapedoc.infer.stated.manners import (
    READ_BY_PROGRAMS,
    fitting,
    has_two_meanings,
    is_held,
    is_imagined,
    is_of_a_step,
    is_of_another,
    is_too_short,
    is_turned_unread,
    leaves_ones_out,
    names_a_one,
    returned_as,
    sizes_named,
    stands_alone,
)
from shapedoc.infer.stated.shorthand import gives_elsewhere, is_of_values, is_of_what_was_flattened, is_shorthand
from shapedoc.infer.stated.warrants import Warrants
from shapedoc.infer.values import Function, Instance, Symbolic
from shapedoc.source import ir
from shapedoc.source.contracts import Bound, DimExpr, ModuleContracts, Named, Number, Rest, StatedShape, to_dim

__all__ = ["Statements"]


class Statements:
    """The shapes stated in one file, told to a machine as it walks."""

    def __init__(self, module: ir.Module, machine: Machine) -> None:
        self.warrants = Warrants()
        # Where a function states the shape of a parameter of its own (its uid), and that function.
        self._first: dict[int, tuple[str, Span]] = {}
        # Whether the statement at hand only gives a tensor another name: it has one shape, before and after.
        self.renamed = False
        self.contracts = ModuleContracts(module)
        self._elsewhere = Elsewhere()
        machine.on_call = self.called
        machine.on_return = self.returned
        machine.after_assign = self.walked
        if machine.sources.comments:
            unread = self.contracts.unreadable
            machine.trace.unreadable = [Unreadable(Span(*u.span), u.text, u.reason) for u in unread]

    # -- where statements meet values

    def called(self, m: Machine, function: Function, frame: Frame) -> None:
        """The parameters of a function that is about to be walked."""
        if not m.sources.comments or not isinstance(function.node, ir.FunctionDef):
            return
        if self._elsewhere.contradicted(m, function, frame):
            m.mistrusted.setdefault(m.function, False)
        for name, shapes in self.contracts.params(function.node).items():
            value = frame.variables.get(name)
            shape = next((s for s in shapes if s.sure), None)
            if value is None or shape is None:
                continue
            if isinstance(value, Symbolic) and not value.size and shape.index is None:
                value = value.as_tensor()
            self._meet(m, value, shape, name, parameter=True)

    def returned(self, m: Machine, function: Function, value: Value) -> Value:
        """The value that a function returns."""
        if not m.sources.comments or not isinstance(function.node, ir.FunctionDef):
            return value
        for bound in self.contracts.returns(function.node):
            index = bound.index if bound.index is not None else bound.shape.index
            if index is not None and bound.shape.name:
                index = returned_as(function.node.body, bound.shape.name, index)
            part = _component(value, index)
            if isinstance(part, Tensor) and bound.shape.sure:
                other = bound.shape.form == "docstring" and gives_elsewhere(function.node, len(m.frame.returned))
                name = bound.name or bound.shape.name or "the returned value"
                self._meet(m, part, bound.shape, name, loose=other)
        return value

    def walked(self, m: Machine, statement: ir.Stmt) -> None:
        """A statement that has been walked."""
        if isinstance(statement, ir.Assert):
            assume(m, statement.test)
            return
        if isinstance(statement, ir.ExprStmt) and (test := checked(statement.value)) is not None:
            assume(m, test)
        if not m.sources.comments:
            return
        for bound in self.contracts.after(statement):
            if bound.shape.where == "after":
                self._after(m, statement, bound)

    def _after(self, m: Machine, statement: ir.Stmt, bound: Bound) -> None:
        value = self._value(m, statement, bound.name)
        if value is None:
            return
        self.renamed = isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Name)
        index = bound.index if bound.index is not None else bound.shape.index
        part = _component(value, index)
        part = part.as_tensor() if isinstance(part, Symbolic) and part.used_as_tensor and self.renamed else part
        if isinstance(part, Tensor):
            before = self.contracts.before(statement)
            if is_of_another(m, statement, bound, part) or is_of_a_step(m, statement, before, bound, part):
                return
            if before and begins_arrow(m, before, bound, part):
                return
            if before and m.sizes.shape(part.shape).run is not None and note_arrow(m, statement, before, bound, part):
                return
            self._meet(m, part, bound.shape, bound.name)
        elif isinstance(part, Unknown) and bound.shape.sure and index is None and "." not in bound.name and bound.name:
            made = Tensor(Shape.unknown(), name=bound.name)
            span = Span(*statement.span, m.path)
            m.emit("stated", statement, (Operand("input", part, span=span),), made)
            self._meet(m, made, bound.shape, bound.name)
            m.store(bound.name, made)

    def _value(self, m: Machine, statement: ir.Stmt, name: str) -> Value | None:
        if name:
            owner, _, attribute = name.rpartition(".")
            if not owner:
                return m.lookup(name)
            receiver = m.lookup(owner)
            return receiver.attributes.get(attribute) if isinstance(receiver, Instance) else None
        if isinstance(statement, ir.Return) and m.frame.returned:
            return m.frame.returned[-1]
        return None

    # -- one statement, one tensor

    def _meet(
        self,
        m: Machine,
        value: Value,
        stated: StatedShape,
        name: str,
        *,
        parameter: bool = False,
        loose: bool = False,
    ) -> None:
        if not isinstance(value, Tensor):
            return
        shape = m.sizes.shape(value.shape)
        dims = fitting(stated, shape)
        if parameter and value.event < 0:
            m.described.add(value.uid)
            self._first.setdefault(value.uid, (m.function, Span(*stated.span)))
            value.kind = value.kind or stated.kind
        if parameter:
            for dim in (d for d in dims or () if isinstance(d, Named)):
                names = m.frame.names
                m.equated.setdefault((id(names), dim.key), (names, dim.key, set()))[2].add(name)
        if shape.run is not None:
            if dims is None and not parameter and value.event >= 0 and is_too_short(stated, shape):
                self._disagree(m, value, stated, name, Sameness(Kind.NEVER), rank=True)
            if dims is not None and names_a_one(shape, dims):
                return  # an axis is left out, and which of them is not known
            if dims is not None and (stated.sure or parameter):
                m.described.add(value.uid)
                self._fill(m, shape, dims, parameter=parameter, alone=stands_alone(m, value))
                if not parameter and is_turned_unread(m, value):
                    m.commented.update(*(axis.ids for axis in m.sizes.shape(value.shape).axes))
                self.warrants.fill(m, value, dims)
            return
        if dims is None and shape.rank == 1 and (shape.axes[0].dim == ZERO or is_of_values(stated)):
            return  # an empty tensor that a loop is to fill, or what stands in one
        if dims is None:
            loose = loose or leaves_ones_out(m, value, stated, shape, name)
            if not parameter and stated.form == "comment":
                made = m.trace.events[value.event] if 0 <= value.event < len(m.trace.events) else None
                loose = loose or is_shorthand(m.sizes, shape, self._said(m, stated))
                loose = loose or is_of_what_was_flattened(m.sizes, made, len(stated.dims))
            self._disagree(m, value, stated, name, Sameness(Kind.NEVER), rank=True, loose=loose, parameter=parameter)
            return
        self._name(m, value, shape, dims, stated, name, parameter=parameter)
        if stated.sure:
            self.warrants.agree(m, value)
        if parameter:
            named = [self._size(m, d, new=False) for d in dims if isinstance(d, Named)]
            m.sizes.apart(*(d for d in named if d is not None))

    def _said(self, m: Machine, stated: StatedShape) -> list[Dim | None]:
        """The stated sizes, numbers included; a name for what is 1 here is left out."""
        sizes = [Dim.of(d.value) if isinstance(d, Number) else self._size(m, d, new=False) for d in stated.dims]
        return [
            s for s, d in zip(sizes, stated.dims, strict=True) if s is None or s.const != 1 or isinstance(d, Number)
        ]

    def _fill(self, m: Machine, shape: Shape, dims: Sequence[DimExpr], *, parameter: bool, alone: bool) -> None:
        """A tensor of unknown rank has the stated one; `alone`: no other tensor has the axes that are not known."""
        run = shape.run
        assert run is not None
        item = shape.items[run]
        assert isinstance(item, Run)
        after = len(shape.items) - run - 1
        middle = dims[run : len(dims) - after]
        held = {d for d in middle if not parameter and len(m.frames) > 2 and is_held(m, d)}
        filled = [(Axis(self._size(m, d, new=True) or m.sizes.fresh()), d) for d in middle]
        doubted = (a for a, d in filled if d in held or is_imagined(a, d, parameter=parameter))
        m.commented.update(*(axis.ids for axis in doubted))
        known = len(m.sizes.runs)
        m.sizes.bind_run(item, tuple(axis for axis, _ in filled))
        m.surmises.learnt(m.sizes, known + alone)
        named = [d for d in (self._size(m, d, new=True) for d in dims if isinstance(d, Named)) if d is not None]
        for axis, dim in zip(shape.prefix, dims, strict=False):
            self._learn(m, axis, dim, parameter=parameter)
        for axis, dim in zip(reversed(shape.suffix), reversed(dims), strict=False):
            self._learn(m, axis, dim, parameter=parameter)
        if parameter:
            m.sizes.apart(*named)

    def _learn(self, m: Machine, axis: Axis, dim: DimExpr, *, parameter: bool) -> None:
        size = self._size(m, dim, new=True)
        if size is None:
            return
        if _open(m.sizes.resolve(axis.dim)) and not isinstance(dim, Named):
            m.commented |= axis.ids
        m.sizes.meet(axis.dim, size)

    def _name(
        self,
        m: Machine,
        value: Tensor,
        shape: Shape,
        dims: Sequence[DimExpr],
        stated: StatedShape,
        name: str,
        *,
        parameter: bool,
    ) -> None:
        """The rank agrees: learn what the names stand for, and see whether they still stand for the same."""
        misplaced = self._one_elsewhere(m, value, shape, dims)
        if misplaced is not None and stated.form not in ("docstring", "suffix"):
            self._disagree(m, value, stated, name, misplaced, rank=False, permuted=True)
            return
        for axis, dim in zip(shape.axes, dims, strict=True):
            if isinstance(dim, Rest):
                continue
            known = self._size(m, dim, new=False)
            if known is None:
                if isinstance(dim, Named) and not dim.broadcasts and stated.sure:
                    m.frame.names.setdefault(dim.key, self._named(m, axis.dim, dim))
                continue
            if known.const == 1 and parameter and (alone := m.sizes.resolve(axis.dim).sym) and alone.flexible:
                m.sizes.meet(axis.dim, known)  # what a caller's batch is here, by the author's word
            if axis.dim.const == 1 or known.const == 1:
                continue
            unknown = _open(axis.dim) or _open(known)
            if unknown and parameter and value.event >= 0 and stated.form not in READ_BY_PROGRAMS:
                continue  # letters are used loosely: `(B, T, d)` is said of queries and of keys
            if value.event >= 0 and _open(axis.dim):
                m.commented |= axis.ids
                m.sizes.mark(axis, "stated", stated.span[0])
            verdict = m.sizes.meet(axis.dim, known) if unknown else m.sizes.compare(axis.dim, known)
            said = stated.form not in ("docstring", "suffix")
            permuted = said and verdict.kind is not Kind.ALWAYS and self._is_elsewhere(m, shape, dims, dim, known)
            if permuted and verdict.kind is not Kind.NEVER:
                verdict = Sameness(Kind.ONLY_IF, Strength.STRONG, verdict.when)
            if verdict.kind is Kind.ONLY_IF and not verdict.wrong and stated.sure:
                m.sizes.two_names(axis.dim, known)
            if verdict.wrong and m.loops and m.loops[-1][1] and stated.form not in READ_BY_PROGRAMS:
                return  # its names stand for the sizes of the first round
            if verdict.wrong:
                self._disagree(m, value, stated, name, verdict, rank=False, permuted=permuted)
                return

    @staticmethod
    def _one_elsewhere(m: Machine, value: Tensor, shape: Shape, dims: Sequence[DimExpr]) -> Sameness | None:
        """An axis that is stated to be 1 where another one is, of which a size is stated that has a name."""
        said = [i for i, d in enumerate(dims) if isinstance(d, Number) and d.value == 1]
        have = [i for i, a in enumerate(shape.axes) if m.sizes.resolve(a.dim).const == 1 and a.visible]
        if m.driver or value.event < 0 or len(said) != 1 or len(have) != 1 or said == have:
            return None
        size = m.sizes.resolve(shape.axes[said[0]].dim)
        if not size.syms or not all(s.name for s in size.syms) or not isinstance(dims[have[0]], Named):
            return None
        return Sameness(Kind.ONLY_IF, Strength.STRONG, f"{m.sizes.show(size)} == 1")

    def _is_elsewhere(self, m: Machine, shape: Shape, dims: Sequence[DimExpr], dim: DimExpr, known: Dim) -> bool:
        """Whether the size that is stated of one axis is that of another one, of which it is not stated."""
        wanted = m.sizes.resolve(known)
        if not wanted.syms or not isinstance(dim, Named):
            return False
        places = [i for i, axis in enumerate(shape.axes) if m.sizes.resolve(axis.dim) == wanted]
        said = [i for i, d in enumerate(dims) if isinstance(d, Named) and d.key == dim.key]
        return len(places) == len(said) == 1 and places != said

    @staticmethod
    def _named(m: Machine, dim: Dim, stated: Named) -> Dim:
        """An axis that nobody named gets the stated name."""
        sym = m.sizes.resolve(dim).sym
        if sym is not None and not sym.name and sym.flexible:
            named = m.sizes.fresh(stated.key, owner=m.function)
            m.sizes.bind(sym, named)
            return named
        return dim

    def _size(self, m: Machine, dim: DimExpr, *, new: bool) -> Dim | None:
        if isinstance(dim, Named) and isinstance(dim.equals, Number) and dim.equals.value == 1:
            dim = dim.equals  # ``steps=1``: a name for an axis that is 1 here
        if isinstance(dim, Number):
            return Dim.of(1) if dim.value == 1 else None

        def lookup(named: Named) -> Dim | None:
            key = named.key
            known = m.frame.names.get(key)
            if known is not None:
                variable = m.frame.variables.get(key)
                if isinstance(variable, Int) and m.sizes.compare(variable.dim, known).kind is not Kind.ALWAYS:
                    return variable.dim if new else None  # said of two sizes
                return known
            variable = m.lookup(key)
            if _is_batch(key) and key not in m.frame.variables:
                variable = None  # a driver's `batch_size` is not that of every tensor
            receiver = m.frame.receiver
            if variable is None and isinstance(receiver, Instance) and not sizes_named(m.frame.node, key):
                variable = receiver.attributes.get(key) or receiver.given.get(key)
            if isinstance(variable, Symbolic) and variable.size and not variable.used_as_tensor:
                variable = variable.as_int()
            if isinstance(variable, Int):
                return None if has_two_meanings(variable.dim, key) else variable.dim
            if not new:
                return None
            made = m.sizes.fresh(key, owner=m.function, origin="stated")
            m.frame.names[key] = made
            return made

        return to_dim(dim, lookup, lambda a, b: m.sizes.floordiv(a, b, owner=m.function))

    @staticmethod
    def _is_faulty(m: Machine, value: Tensor) -> bool:
        """Whether a tensor comes of an operation that does not fit: what is stated of it speaks against that one."""
        events = m.trace.events
        return value.event in m.spoilt or (0 <= value.event < len(events) and bool(events[value.event].problems))

    def _disagree(
        self,
        m: Machine,
        value: Tensor,
        stated: StatedShape,
        name: str,
        verdict: Sameness,
        *,
        rank: bool,
        permuted: bool = False,
        loose: bool = False,
        parameter: bool = False,
    ) -> None:
        if stated.sure and stated.form not in READ_BY_PROGRAMS and not self._is_faulty(m, value):
            m.mistrusted.setdefault(m.function, False)
        if not stated.sure or m.path or (stated.prose and parameter and value.event >= 0):
            return
        said_before = rank and self.renamed and self.warrants.confirms(m, value)
        doubtful = value.event in m.one_sided | m.surmises.events and not said_before
        own = rank and stated.form not in READ_BY_PROGRAMS
        if doubtful and not (own and self.warrants.contradict(m, value, stated)):
            return
        if own and len(m.frames) > 2 and self.warrants.rests_on_a_caller(m, value):
            return  # what a comment of the caller's says of its own: which of the two is wrong is not known
        said = Stated(
            Span(*stated.span), name, str(stated), stated.form, m.sizes.show_shape(value.shape), verdict, rank, permuted
        )
        given = m.calls[-1].span if parameter and m.calls and value.event >= 0 else None
        said = replace(said, event=value.event, function=m.function, driver=m.driver, loose=loose, given=given)
        first, where = self._first.get(value.uid, ("", None)) if rank else ("", None)
        m.trace.stated.append(replace(said, first=first, first_span=where) if first != m.function else said)


def _is_batch(name: str) -> bool:
    return "batch" in name.lower() or name.lower() in ("b", "n", "bs", "bsz")


def _open(dim: Dim) -> bool:
    sym = dim.sym
    return sym is not None and sym.flexible and not sym.name


def _component(value: Value, index: int | None) -> Value:
    if index is None:
        return value
    if isinstance(value, Seq) and value.rest is None and 0 <= index < len(value.items):
        return value.items[index]
    if isinstance(value, Symbolic) and not value.used_as_tensor:
        return value.child(str(index)).as_tensor()
    return Unknown("another component")
