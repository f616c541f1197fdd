"""What every kind of statement does, assignments aside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shapedoc.core.trace import Tested
from shapedoc.core.value import (
    Bool,
    Library,
    NoneValue,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.infer.branches.again import asked_of, remember, walk_branch
from shapedoc.infer.branches.asserted import assume, cannot_hold
from shapedoc.infer.branches.granted import ask_the_others, asks_shape, holds_of_none, settled_by_setting, take_quotient
from shapedoc.infer.branches.join import State, join_states, settled, snapshot
from shapedoc.infer.branches.ranked import told_apart
from shapedoc.infer.branches.truth import condition, truth
from shapedoc.infer.machine import Machine, Signal, called, executor, span_of
from shapedoc.infer.nodes.assignments import assign
from shapedoc.infer.nodes.starred import with_star
from shapedoc.infer.noticed.discarded import note_discarded, watched
from shapedoc.infer.noticed.expected import walk_aside
from shapedoc.infer.unread.decorated import gives_other
from shapedoc.infer.values import Class, Function, Setting, Symbolic
from shapedoc.source import ir
from shapedoc.source.expected import expects_failure

__all__ = ["branching"]


# -- control flow


@executor(ir.ExprStmt)
def expression(m: Machine, node: ir.ExprStmt) -> Signal:
    begin = len(m.trace.events)
    m.eval(node.value)
    if isinstance(node.value, ir.Call):
        note_discarded(m, node.value, begin)
    if m.after_assign is not None:
        m.after_assign(m, node)
    return ""


@executor(ir.Return)
def returning(m: Machine, node: ir.Return) -> Signal:
    value = m.eval(node.value) if node.value is not None else NoneValue()
    m.frame.returned.append(settled(m.sizes, value))
    if node.value is not None and not m.path:
        m.leaves(node.value, value)
    if m.after_assign is not None:
        m.after_assign(m, node)
    return "return"


@executor(ir.If)
def branching(m: Machine, node: ir.If) -> Signal:
    outer, m.testing = m.testing, id(node)
    asked = condition(m, node.test)
    _ask_otherwise(m, node.test, asked)
    known = truth(m, asked)
    if known is None:
        known = settled_by_setting(m, node)
        _note_tested(m, node.test)
    m.testing = outer
    if known is None and holds_of_none(m, node):
        known = False
    if known is not None:
        m.sides[known].add(id(node))
        take_quotient(m, node.test)
        if known and isinstance(node.test, ir.Compare):
            ask_the_others(m, node.orelse)
        signal = m.run(node.body if known else node.orelse)
        if signal == "raise" and not m.branch:
            m.refused.append(node.test)
        return signal
    question, before = asked_of(m, node.test), m.sizes
    states = [snapshot(m, partial(walk_branch, m, node, question, holds)) for holds in (True, False)]
    told_apart(node.test, states)
    signal = join_states(m, states, node)
    returned = [s.sizes for s in states if s.signal == "return"]
    if len(returned) == 1 and asks_shape(node.test):
        m.frame.parted += returned
    if states[0].signal == "raise" and not node.orelse:
        assume(m, node.test, holds=False)
    if not any(s.signal for s in states):
        remember(m, question, before, [(s.sizes, s.variables) for s in states])
    return signal


def _ask_otherwise(m: Machine, test: ir.Expr, asked: Value) -> None:
    """What a parameter's default answers, its other value would answer otherwise."""
    if isinstance(test, ir.UnaryOp) and test.op == "not" and isinstance(test.operand, ir.Name | ir.Attribute):
        asked = m.eval(test.operand)
    if isinstance(asked, Bool) and asked.value is not None and (asked.parameter or asked.flag):
        m.ask(asked.parameter or called(asked.flag), not asked.value)


def _note_tested(m: Machine, test: ir.Expr) -> None:
    """Note a variable whose truth is asked for alone: ``if mask:``, ``if not mask:``."""
    while isinstance(test, ir.UnaryOp) and test.op == "not":
        test = test.operand
    value = m.lookup(test.id) if isinstance(test, ir.Name) and not m.path and not m.watched else None
    if isinstance(test, ir.Name) and isinstance(value, Symbolic | Tensor):
        tensor = value if isinstance(value, Tensor) else None
        shape = m.sizes.shape(tensor.shape) if tensor is not None else None
        m.trace.tested.setdefault(span_of(test), Tested(test.id, m.function, tensor, shape))


@executor(ir.With)
def with_(m: Machine, node: ir.With) -> Signal:
    for item, target in node.items:
        value = m.eval(item)
        if target is not None:
            assign(m, target, value if isinstance(value, Tensor) else Unknown("a context manager"))
    if expects_failure(node):
        walk_aside(m, node)
        return ""
    return m.run(node.body)


@executor(ir.Try)
def try_(m: Machine, node: ir.Try) -> Signal:
    states: list[State] = [snapshot(m, lambda: watched(m, node.body) or m.run(node.orelse))]
    for _, name, body in node.handlers:
        states.append(snapshot(m, partial(_handle, m, name, body)))
    going = [s for s in states if not s.signal]
    signal = join_states(m, states[:1] if not states[0].signal else (going or states), node)
    final = m.run(node.final)
    return final or signal


def _handle(m: Machine, name: str | None, body: Sequence[ir.Stmt]) -> Signal:
    if name:
        m.store(name, Unknown("an exception"))
    return m.run(body)


@executor(ir.Assert)
def asserting(m: Machine, node: ir.Assert) -> Signal:
    value = condition(m, node.test)
    known = value.value if isinstance(value, Bool) else None
    if not known and cannot_hold(m, node.test):
        return "raise"
    if known is False:
        if not m.branch:
            m.refused.append(node.test)
        return ""
    if m.after_assign is not None:
        m.after_assign(m, node)
    return ""


@executor(ir.Jump)
def jump(m: Machine, node: ir.Jump) -> Signal:
    match node.kind:
        case "break" | "continue" | "raise":
            return node.kind
        case "global":
            m.frame.globals_ = m.frame.globals_ | frozenset(node.names)
    return ""


@executor(ir.OpaqueStmt)
def opaque(m: Machine, node: ir.OpaqueStmt) -> Signal:
    for value in node.values:
        m.eval(value)
    blocks = [snapshot(m, partial(m.run, block)) for block in node.blocks]
    rest = snapshot(m, lambda: "")
    return join_states(m, [*blocks, rest], node)


# -- definitions


@executor(ir.Import)
def importing(m: Machine, node: ir.Import) -> Signal:
    if m.load is not None:
        for name, value in m.load(m, node).items():
            m.store(name, with_star(m.lookup(name), value) if name == "*" else value)
            if isinstance(value, Library) and not m.path:
                m.libraries.add(value.qualified.partition(".")[0])
    return ""


@executor(ir.FunctionDef)
def function(m: Machine, node: ir.FunctionDef) -> Signal:
    frame = m.frame
    closure = {**frame.closure, **frame.variables} if len(m.frames) > 1 else {}
    role = ""
    for decorator in node.decorators:
        name = decorator.id if isinstance(decorator, ir.Name) else ""
        role = {"staticmethod": "static", "classmethod": "class", "property": "property"}.get(name, role)
        if isinstance(decorator, ir.Name | ir.Attribute) and name not in ("staticmethod", "classmethod", "property"):
            value = m.eval(decorator)
            if isinstance(value, Library) and value.qualified == "functools.cached_property":
                role = "property"
    defaults = {p.name: m.eval(p.default) for p in node.params if p.default is not None}
    made = Function(node, closure, None, defaults, frame.module, role, replaced=gives_other(m, node.decorators))
    m.store(node.name, made)
    if len(m.frames) > 1:
        made.closure = {**made.closure, node.name: made}
    return ""


@executor(ir.ClassDef)
def class_(m: Machine, node: ir.ClassDef) -> Signal:
    from shapedoc.infer.machine import Frame

    bases = tuple(Library(b.source) if isinstance(b, Setting) else b for b in map(m.eval, node.bases))
    frame = m.frame
    closure = {**frame.closure, **frame.variables} if len(m.frames) > 1 else {}
    made = Class(node, node.name, bases, module=frame.module)
    m.frames.append(Frame(node.name, {}, closure, made, None, frame.module))
    try:
        m.run(node.body)
        members = m.frame.variables
    finally:
        m.frames.pop()
    for value in members.values():
        if isinstance(value, Function) and value.owner is None:
            value.owner = made
            value.closure = closure
    made.members.update(members)
    m.store(node.name, made)
    return ""
