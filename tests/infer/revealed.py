"""Programs that say beside a line what the analyzer must infer there.

A line that ends in ``#: (B, T)`` expects the shape of what the line computes last; ``#: ?`` expects that nothing is
known of it. The comments are cut before the analysis, so that they cannot help it.
"""

from __future__ import annotations

import re
from textwrap import dedent

from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Seq, Tensor, Value
from shapedoc.infer import Sources, analyse
from shapedoc.source import lower_ast

_EXPECTED = re.compile(r"\s*#: (.+)$")


def run(program: str, sources: Sources | None = None) -> Trace:
    """The trace of a program."""
    text = dedent(program)
    return analyse(lower_ast.lower(text), text, "program.py", sources)


def check(program: str, entry: str, sources: Sources | None = None) -> None:
    """Compare what is inferred in `entry` ("" is the file itself) with what the program says beside its lines."""
    lines = dedent(program).splitlines()
    expected = {i: m[1] for i, line in enumerate(lines, 1) if (m := _EXPECTED.search(line))}
    trace = run("\n".join(_EXPECTED.sub("", line) for line in lines) + "\n", sources)
    found = revealed(trace, entry)
    got = {line: found.get(line, "nothing") for line in expected}
    assert got == expected, f"inferred {got}, expected {expected}"


def revealed(trace: Trace, entry: str) -> dict[int, str]:
    """By line, the shape of what was computed there last."""
    found: dict[int, str] = {}
    for name, start, end, _ in trace.entries:
        if name == entry:
            for event in trace.events[start:end]:
                if event.op != "phi":
                    found[event.span.line] = shown(event, event.result)
    return found


def shown(event: Event, value: Value) -> str:
    """A value as the tests write it."""
    match value:
        case Tensor():
            text = event.sizes.show_shape(value.shape) if event.sizes is not None else ""
            return "?" if text.startswith(("(...", "(*")) else text
        case Seq():
            return f"[{', '.join(shown(event, item) for item in value.items)}]"
    return type(value).__name__
