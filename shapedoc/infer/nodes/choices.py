"""Calling what is one of several things: a layer or another, whichever a setting chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.value import NoneValue, Value
from shapedoc.infer.branches.join import State, join, settled, snapshot
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.nodes import attributes
from shapedoc.infer.nodes.signatures import takes
from shapedoc.infer.values import Choice
from shapedoc.source import ir

__all__ = ["attribute_of_choice", "call_choice"]


def call_choice(
    m: Machine, choice: Choice, args: Sequence[Arg], keywords: Mapping[str, Arg], node: ir.Expr | ir.Stmt, rest: bool
) -> Value:
    """What the alternatives give between them.

    Those that do not take the arguments, or that they do not fit, are not meant here, if there are others: what chose
    the layer chooses the way through the code, too.
    """
    from shapedoc.infer.nodes.calls import call_value

    outcomes: list[tuple[Value, State, range]] = []
    alternatives = [v for v in choice.values if not isinstance(v, NoneValue)]
    taking = [v for v in alternatives if rest or takes(v, args, keywords)]
    for alternative in taking or alternatives:
        values: list[Value] = []
        start = len(m.trace.events)

        def walk(func: Value = alternative, into: list[Value] = values) -> str:
            into.append(settled(m.sizes, call_value(m, func, args, keywords, node, rest=rest)))
            return ""

        state = snapshot(m, walk)
        outcomes.append((values[0], state, range(start, len(m.trace.events))))
    fitting = [o for o in outcomes if m.spoilt.isdisjoint(o[2])]
    for _, _, walked in outcomes if fitting else ():
        if not m.spoilt.isdisjoint(walked):
            m.spoilt.difference_update(walked)
            for index in walked:
                m.trace.events[index].problems, m.trace.events[index].doubtful = (), True
    kept = fitting or outcomes
    m.sizes.join([state.sizes for _, state, _ in kept])
    return join(m, [value for value, _, _ in kept], node)


def attribute_of_choice(m: Machine, choice: Choice, name: str, node: ir.Attribute) -> Value:
    """An attribute that the alternatives have in common."""
    return join(m, [attributes.get(m, v, name, node) for v in choice.values if not isinstance(v, NoneValue)], node)
