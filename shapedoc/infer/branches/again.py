"""A test that is asked again: what one branch learnt and left holds wherever its test holds once more.

``if self.relative:`` stands twice in one function. The second time what is known is not what both ways have in common:
it is what the first way made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Int, Tensor, Value
from shapedoc.infer.branches.equal import as_one_size
from shapedoc.infer.branches.granted import take_for_granted
from shapedoc.infer.branches.kinds import of_kind
from shapedoc.infer.machine import Machine, Signal
from shapedoc.infer.questions import Answer, Question
from shapedoc.source import ir

__all__ = ["asked_of", "remember", "walk_branch"]

# No more answers of one question are kept: the latest.
_KEPT = 6

_OPPOSITE = {"is not": "is", "!=": "==", "not in": "in"}


def asked_of(m: Machine, test: ir.Expr) -> Question | None:
    """The question that a test is, if it asks of variables and attributes only."""
    negated = False
    while isinstance(test, ir.UnaryOp) and test.op == "not":
        test, negated = test.operand, not negated
    values: list[Value] = []
    text = _spelt(m, test, values)
    if text is None:
        return None
    if isinstance(test, ir.Compare) and len(test.ops) == 1 and test.ops[0] in _OPPOSITE:
        negated = not negated
    return Question(text, tuple(values), negated)


def walk_branch(m: Machine, node: ir.If, question: Question | None, holds: bool) -> Signal:
    """One way through an ``if``, with what its test lets it take for granted."""
    if question is not None:
        _recall(m, question, holds)
    signal = take_for_granted(m, node.test, holds)
    if signal:
        return signal
    with as_one_size(m, node.test, holds), of_kind(m, node.test, holds):
        return m.run(node.body if holds else node.orelse)


def _recall(m: Machine, question: Question, holds: bool) -> None:
    """Take over what the branch of the same answer learnt and left."""
    variables = m.frame.variables
    for answer in m.frame.answers.get((question.text, holds != question.negated), ()):
        if not answer.question.same(question):
            continue
        for sym, dim in answer.sizes.items():
            if sym not in m.sizes.bindings:
                m.sizes.bind(sym, dim)
        for run, items in answer.runs.items():
            if run not in m.sizes.runs:
                m.sizes.bind_run(run, items)
        for name, (joined, own) in answer.variables.items():
            if variables.get(name) is joined:
                variables[name] = own


def remember(
    m: Machine, question: Question | None, before: Sizes, branches: Sequence[tuple[Sizes, Mapping[str, Value]]]
) -> None:
    """Keep what the two branches of a test learnt since `before`, and the variables that they left; both went on."""
    if question is None:
        return
    known, now = m.sizes, m.frame.variables
    for holds, (sizes, left) in zip((True, False), branches, strict=True):
        learnt = {s: d for s, d in sizes.bindings.items() if s not in known.bindings and s not in before.bindings}
        runs = {r: i for r, i in sizes.runs.items() if r not in known.runs and r not in before.runs}
        changed = {n: (now[n], v) for n, v in left.items() if n in now and now[n] is not v}
        for joined, own in changed.values():
            learnt.update(_sizes_of(m, joined, own))
        if learnt or runs or changed:
            answers = m.frame.answers.setdefault((question.text, holds != question.negated), [])
            answers.append(Answer(question, learnt, runs, changed))
            del answers[:-_KEPT]


def _sizes_of(m: Machine, joined: Value, own: Value) -> Iterator[tuple[Sym, Dim]]:
    """What the unknown sizes of a value that stands for several branches are on the way that left `own`."""
    pairs: list[tuple[Dim, Dim]] = []
    match joined, own:
        case Tensor(), Tensor():
            one, other = m.sizes.shape(joined.shape), own.shape
            if one.rank is not None and one.rank == other.rank:
                pairs = [(a.dim, b.dim) for a, b in zip(one.axes, other.axes, strict=True)]
        case Int(), Int():
            pairs = [(m.sizes.resolve(joined.dim), own.dim)]
    for dim, here in pairs:
        sym = dim.sym
        if sym is not None and sym.flexible and not sym.name and sym not in here.syms:
            yield sym, here


def _spelt(m: Machine, node: ir.Expr, values: list[Value]) -> str | None:
    """A test in one spelling, and the values that it asks of; None where it calls something, or looks inside."""
    match node:
        case ir.Const(value=value):
            return repr(value)
        case ir.Name(id=name):
            found = m.lookup(name)
            if found is None:
                return None
            values.append(found)
            return name
        case ir.Attribute(value=ir.Name(id=owner), attr=attr):
            values.append(m.eval(node))
            return f"{owner}.{attr}"
        case ir.UnaryOp(op="not", operand=operand):
            inner = _spelt(m, operand, values)
            return None if inner is None else f"not {inner}"
        case ir.BoolOp(op=op, values=parts):
            return _list_of(m, f" {op} ", parts, values)
        case ir.Compare(left=left, ops=[op], comparators=[right]):
            return _list_of(m, f" {_OPPOSITE.get(op, op)} ", (left, right), values)
    return None


def _list_of(m: Machine, between: str, parts: Sequence[ir.Expr], values: list[Value]) -> str | None:
    spelt = [_spelt(m, part, values) for part in parts]
    return None if None in spelt else f"({between.join(str(s) for s in spelt)})"
