"""Loops and comprehensions: a round with what stood before it, another with what the first left behind."""

from __future__ import annotations

from collections.abc import Mapping

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.value import Bool, DictValue, Float, Int, Layer, Seq, Str, Tensor, Unknown, Value
from shapedoc.infer.branches.join import join
from shapedoc.infer.branches.truth import condition, truth
from shapedoc.infer.machine import Machine, Signal, executor
from shapedoc.infer.nodes.elements import Elements, elements
from shapedoc.infer.nodes.stacks import brings_nothing, goes_deeper
from shapedoc.source import ir

__all__ = ["comprehend"]

_DEEP = 3


@executor(ir.For)
def loop_for(m: Machine, node: ir.For) -> Signal:
    """``for target in iterable: body``."""
    from shapedoc.infer.nodes.assignments import assign

    got = elements(m, m.eval(node.iterable), node)
    items = got.items
    if len(m.loops) >= _DEEP and not goes_deeper(items):
        if got.exact and len(items) > 1:
            got = Elements(items, False, Dim.of(len(items)))
        items = items[-1:]
    elif len(m.loops) >= 2 and len(items) > 2:
        items, got = items[:2], Elements(items[:2], False, got.length)
    before = dict(m.frame.variables)
    after_first: Mapping[str, Value] | None = None
    outer, m.loops = m.loops, m.loops
    m.branch_count += 1
    loop = m.branch_count
    if not got.exact:
        m.repeating[loop] = got.length
    signal = ""
    start, mark = before, len(m.journal)
    try:
        for i, element in enumerate(items):
            if i and not got.exact and brings_nothing(m, items[i - 1], element, start, mark):
                break
            if i == 1 and not got.exact:
                _forget_counts(m, before)
            start, mark = dict(m.frame.variables), len(m.journal)
            m.loops = (*outer, (loop, i))
            assign(m, node.target, element)
            signal = m.run(node.body)
            if signal in ("break", "return", "raise"):
                break
            if i == 0:
                after_first = dict(m.frame.variables)
    finally:
        m.loops = outer
    if signal in ("return", "raise") and got.exact:
        return signal
    if not got.exact and after_first is not None:
        _settle(m, before, after_first, got.length, node, once=m.frame.variables == after_first)
    return m.run(node.orelse) if node.orelse and signal != "break" else ""


@executor(ir.While)
def loop_while(m: Machine, node: ir.While) -> Signal:
    """``while test: body``: two rounds, unless the test is certainly false."""
    before = dict(m.frame.variables)
    after_first: Mapping[str, Value] | None = None
    outer = m.loops
    m.branch_count += 1
    loop = m.branch_count
    m.repeating[loop] = None
    try:
        for i in range(1 if len(outer) >= _DEEP else 2):
            if truth(m, condition(m, node.test)) is False:
                break
            m.loops = (*outer, (loop, i))
            signal = m.run(node.body)
            if signal in ("break", "return", "raise"):
                break
            if i == 0:
                after_first = dict(m.frame.variables)
    finally:
        m.loops = outer
    if after_first is not None:
        _settle(m, before, after_first, None, node, once=m.frame.variables == after_first)
    return ""


def _forget_counts(m: Machine, before: Mapping[str, Value]) -> None:
    """A number that counts the rounds is 1 in the second only, which stands for all that follow."""
    for name, value in m.frame.variables.items():
        earlier = before.get(name)
        if isinstance(value, Int) and isinstance(earlier, Int) and earlier is not value:
            first, next_ = earlier.dim.const, value.dim.const
            if first is not None and next_ is not None and abs(next_ - first) == 1:
                m.frame.variables[name] = m.fresh_int()


def _settle(
    m: Machine,
    before: Mapping[str, Value],
    first: Mapping[str, Value],
    trips: Dim | None,
    node: ir.For | ir.While,
    *,
    once: bool,
) -> None:
    """After rounds that stand for any number of them: keep what they agree on.

    once: only one was walked. What a list grew by in it, it grows by in every one.
    """
    variables = m.frame.variables
    for name, value in list(variables.items()):
        earlier = first.get(name)
        if once and isinstance(value, Seq) and before.get(name) is not value:
            variables[name] = _grown(m, before.get(name), value, value, trips, node)
            continue
        if earlier is None or earlier is value:
            continue
        variables[name] = _settled(m, before.get(name), earlier, value, trips, node)


def _settled(
    m: Machine, start: Value | None, first: Value, last: Value, trips: Dim | None, node: ir.For | ir.While
) -> Value:
    match first, last:
        case Tensor(), Tensor():
            a, b = m.sizes.shape(first.shape), m.sizes.shape(last.shape)
            if (
                a.rank is not None
                and a.rank == b.rank
                and all(x.dim == y.dim for x, y in zip(a.axes, b.axes, strict=True))
            ):
                return last
            return join(m, [first, last], node)
        case Int(), Int():
            return last if m.sizes.resolve(first.dim) == m.sizes.resolve(last.dim) else m.fresh_int()
        case (Float(), Float()) | (Str(), Str()) | (Bool(), Bool()):
            return last if first == last else join(m, [first, last], node)
        case Seq(), Seq():
            return _grown(m, start, first, last, trips, node)
        case DictValue(), DictValue():
            return last
    return last


def _grown(m: Machine, start: Value | None, first: Seq, last: Seq, trips: Dim | None, node: ir.For | ir.While) -> Value:
    """A list that grew by as many elements in every round has that many for each trip of the loop."""
    if not isinstance(start, Seq) or start.rest is not None or first.rest is not None or last.rest is not None:
        return last
    more = len(first.items) - len(start.items)
    again = more if first is last else len(last.items) - len(first.items)
    if more == 0 and again == 0:
        return last
    added = last.items[len(start.items) :]
    one = join(m, added, node) if added else Unknown("an element")
    length = trips * more + len(start.items) if trips is not None and more == again and not start.items else None
    return Seq((), "list", one, length)


def comprehend(m: Machine, node: ir.Comprehension) -> Value:
    """A list of what the element is in each round (two that stand for all where they are not known one by one)."""
    from shapedoc.infer.nodes.assignments import assign

    variables, newest = m.frame.variables, Sym().uid
    m.frame.variables = dict(variables)
    try:
        first = node.generators[0]
        got = elements(m, m.eval(first.iterable), node)
        values: list[Value] = []
        keys: list[Value] = []
        exact = got.exact and len(node.generators) == 1
        for element in got.items[-1:] if not got.exact else got.items:
            assign(m, first.target, element)
            known = [truth(m, m.eval(c)) for c in first.conditions]
            if False in known:
                continue
            if None in known:
                exact = False
            for inner in node.generators[1:]:
                more = elements(m, m.eval(inner.iterable), node)
                assign(m, inner.target, more.items[0] if more.items else Unknown("an element"))
            counted = set() if exact else _counted(m, node)
            if node.key is not None:
                keys.append(m.eval(node.key))
            values.append(_of_any_round(m, m.eval(node.element), counted))
    finally:
        m.frame.variables = variables
    if node.kind == "dict":
        if exact and all(isinstance(k, Str) and k.value is not None for k in keys):
            pairs = zip(keys, values, strict=True)
            return DictValue({k.value: v for k, v in pairs if isinstance(k, Str)})
        return DictValue({}, complete=False)
    if exact:
        return Seq(tuple(values), "list")
    conditional = bool(first.conditions) or len(node.generators) > 1
    one = _in_every_round(join(m, values, node), newest) if values else Unknown("an element")
    return Seq((), "list", one, None if conditional else got.length)


def _counted(m: Machine, node: ir.Comprehension) -> set[Sym]:
    """The unknown numbers that differ from round to round: those that the variables of a comprehension stand for."""
    targets = [
        t for g in node.generators for t in (g.target.items if isinstance(g.target, ir.Sequence) else [g.target])
    ]
    values = [m.frame.variables.get(t.id) for t in targets if isinstance(t, ir.Name)]
    return {s for v in values if isinstance(v, Int) for s in m.sizes.resolve(v.dim).syms if s.flexible}


def _of_any_round(m: Machine, value: Value, counted: set[Sym]) -> Value:
    """An element that stands for all: a number that its round counts is none that has a name."""
    if not isinstance(value, Int) or not counted:
        return value
    dim = m.sizes.resolve(value.dim)
    return Int(dim.substitute({s: m.sizes.fresh(owner=m.function) for s in dim.syms & counted}), value.name)


def _in_every_round(layer: Value, newest: int) -> Value:
    """A layer that stands for all: a size that came up in the comprehension, after `newest`, is another in each."""
    if not isinstance(layer, Layer) or not any(_is_newer(v, newest) for v in layer.config.values()):
        return layer
    other = Unknown("another size in every layer")
    config = {n: other if _is_newer(v, newest) else v for n, v in layer.config.items()}
    return Layer(layer.kind, config, layer.span, layer.name, layer.event)


def _is_newer(value: Value, newest: int) -> bool:
    return isinstance(value, Int) and any(s.flexible and s.uid > newest for s in value.dim.syms)
