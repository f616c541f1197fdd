"""The last step of each sequence, where sequences of several lengths are padded."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import names_in_scope
from shapedoc.rules.reading.flow import shape_at

__all__: list[str] = []


@proposes("SD309")
def gathered(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The output at ``lengths - 1``: right in one direction only."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if not isinstance(node, cst.Subscript) or _directions(bench, finding) != 1:
        return
    base = syntax.whole(node.value)
    text = syntax.source(Span(base.end_line, base.end_column, finding.span.end_line, finding.span.end_column)) if (
        base is not None
    ) else ""  # fmt: skip
    lengths = _lengths(bench, finding)
    if base is None or not lengths or not re.fullmatch(r"\[:, ?-1(, ?:)?\]", text):
        return
    tensor = syntax.source(base)
    new = f"{tensor}[torch.arange({tensor}.size(0)), {lengths} - 1]"
    yield Candidate((syntax.replace(finding.span, new),), f"take each sequence's own last step: `{new}`")


def _lengths(bench: Bench, finding: Finding) -> str:
    """What holds the lengths, as it is written in the function around the finding."""
    scope = names_in_scope(bench.syntax, finding.span)
    found = re.search(r"`(\w+) - 1`", finding.help)
    return scope.get(found[1], "") if found is not None else ""


def _directions(bench: Bench, finding: Finding) -> int:
    """How many directions the module runs in that made a tensor; 0 where no such module is seen in the function."""
    for state, count in _states(bench, finding):
        if state is not None:
            return count
    return 0


def _states(bench: Bench, finding: Finding) -> Iterator[tuple[str | None, int]]:
    """The states that recurrent modules return in the function of a finding, and in how many directions they run."""
    syntax = bench.syntax
    function = syntax.function(finding.span)
    if function is None:
        return
    for event in reversed(bench.trace.events):
        if not event.short.endswith((".forward",)) or event.short.split(".")[0] not in ("GRU", "LSTM", "RNN"):
            continue
        if event.span.path or not function[0].contains(event.span) or event.span.line >= finding.span.line:
            continue
        both = _is_both(bench, event.span)
        statement = syntax.statement(event.span)
        target = statement[1].targets[0].target if statement and isinstance(statement[1], cst.Assign) else None
        if not isinstance(target, cst.Tuple) or len(target.elements) != 2:
            continue
        state = target.elements[1].value
        if isinstance(state, cst.Tuple) and state.elements:
            state = state.elements[0].value
        yield (state.value if isinstance(state, cst.Name) else None), both


def _is_both(bench: Bench, span: Span) -> int:
    """1 or 2: whether the module that is called at a span is built bidirectional."""
    node = bench.syntax.at(span)
    name = bench.syntax.called(node) if isinstance(node, cst.Call) else ""
    for place, statement in bench.syntax.lowered.statements.items():
        if isinstance(statement, cst.Assign) and any(
            isinstance(t.target, cst.Attribute) and t.target.attr.value == name for t in statement.targets
        ):
            return 2 if "bidirectional=True" in bench.syntax.source(Span(*place)).replace(" ", "") else 1
    return 1


@proposes("SD309")
def last_states(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The state that the module itself returns for the end of each sequence: both directions beside each other."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    if not isinstance(node, cst.Subscript) or "padding" not in finding.message or "never read" in finding.message:
        return
    for state, directions in _states(bench, finding):
        if state in (None, "_"):
            continue
        text = f"{state}[-1]" if directions == 1 else f"torch.cat(({state}[-2], {state}[-1]), dim=-1)"
        if _is_last_layer(bench, finding, str(state)):
            yield Candidate((syntax.replace(finding.span, text),), f"take the state at the end of each: `{text}`")
        return


def _is_last_layer(bench: Bench, finding: Finding, state: str) -> bool:
    """Whether a name still holds a state of three axes at the finding."""
    for event in bench.trace.events:
        for operand in event.operands:
            if operand.text == state and not event.span.path and event.span.line <= finding.span.line:
                shape = shape_at(event, operand)
                if shape is not None and shape.rank not in (None, 3):
                    return False
    return True
