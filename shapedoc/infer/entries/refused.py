"""What a constructor refuses: two settings that an assert says are never on together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Bool, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Class, Function, Instance
from shapedoc.source import ir

__all__ = ["built_with"]

Built = tuple[Instance, Sizes]


def built_with(
    m: Machine, build: Callable[[Class, Mapping[str, Value]], Built], cls: Class, chosen: Mapping[str, Value]
) -> Built | None:
    """An object with other settings than the defaults, or with one more where these are refused.

    None where all are refused: what no program builds is not walked.
    """
    events, entries = m.trace.events, m.trace.entries
    start, first, pending = len(events), len(entries), [chosen]
    while pending:
        del events[start:], entries[first:]
        given = pending.pop(0)
        built = build(cls, given)
        refusing = [test for test in m.refused if not set(given).isdisjoint(_names(test))]
        if not refusing:
            return built
        found = cls.find("__init__") if given is chosen else None
        if found is not None and isinstance(found[0], Function):
            pending += _with_another(refusing[0], found[0], given)
    del events[start:], entries[first:]
    return None


def _with_another(test: ir.Expr, builder: Function, chosen: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """The chosen settings, each time with one more that the test names, the opposite of its default."""
    for name in dict.fromkeys(_names(test)):
        default = builder.defaults.get(name)
        if name not in chosen and isinstance(default, Bool) and default.value is not None:
            yield {**chosen, name: Bool(not default.value)}


def _names(test: ir.Expr) -> Iterator[str]:
    """The variables, and the attributes of objects, that a test of truth values names."""
    match test:
        case ir.Name(id=name) | ir.Attribute(attr=name):
            yield name
        case ir.UnaryOp(operand=operand):
            yield from _names(operand)
        case ir.BoolOp(values=parts):
            for part in parts:
                yield from _names(part)
        case ir.Compare(left=left, comparators=others):
            for part in (left, *others):
                yield from _names(part)
