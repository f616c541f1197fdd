"""Code that is written to fail: what is found in it is what its author expects."""

from __future__ import annotations

from shapedoc.core.value import Unknown
from shapedoc.infer.branches.join import snapshot
from shapedoc.infer.machine import Machine
from shapedoc.source import ir
from shapedoc.source.expected import last_name

__all__ = ["fails", "walk_aside"]

# ``pytest.mark.xfail`` and ``unittest.expectedFailure``.
_MARKS = frozenset(("xfail", "expectedFailure", "skip"))


def fails(node: ir.FunctionDef) -> bool:
    """Whether a test is marked as one that fails or is not run."""
    return any(last_name(decorator) in _MARKS for decorator in node.decorators)


def walk_aside(m: Machine, node: ir.With) -> None:
    """Walk a body for what it calls, and forget it: what it assigns is unknown, what it does leaves no event."""
    trace, executed = m.trace, set(m.executed)
    events, stated, unknown = len(trace.events), len(trace.stated), dict(trace.unknown)
    misbound = dict(trace.misbound)
    state = snapshot(m, lambda: m.run(node.body))
    trace.misbound = misbound
    del trace.events[events:]
    del trace.stated[stated:]
    trace.unknown = unknown
    m.executed = executed
    m.spoilt = {e for e in m.spoilt if e < events}
    m.one_sided = {e for e in m.one_sided if e < events}
    m.tentative = {e for e in m.tentative if e < events}
    m.doubted = [(e, problem) for e, problem in m.doubted if e < events]
    for name, value in state.variables.items():
        if m.frame.variables.get(name) is not value:
            m.frame.variables[name] = Unknown("set where an exception is expected")
