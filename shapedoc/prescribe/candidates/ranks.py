"""An axis too few or too many: ``unsqueeze``, ``squeeze``, an index, a size that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, expressions, is_numpy, rank_of

__all__: list[str] = []


@proposes("SD206", "SD105")
def named_axis(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``squeeze`` with the axis that is meant."""
    syntax = bench.syntax
    for call in calls(bench, finding, "squeeze"):
        receiver = syntax.receiver(call)
        if call.args or receiver is None:
            continue
        rank = rank_of(bench.trace.events, syntax.span(receiver)) or finding.actual.count(",") + 1
        word = "axis=" if is_numpy(bench, bench.touching(finding)) else ""
        for axis in range(rank):
            yield Candidate(syntax.argument(call, f"{word}{axis}"), f"name the axis: `squeeze({word}{axis})`")
        return


@proposes("SD206")
def unsqueezed_no_more(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Leave the batch where it is."""
    syntax = bench.syntax
    for call in calls(bench, finding, "squeeze"):
        receiver, place = syntax.receiver(call), syntax.span(call)
        if len(call.args) == 1 and receiver is not None and place is not None:
            yield Candidate((syntax.replace(place, syntax.plain(receiver)),), "leave the axis")
        return


@proposes("SD105", "SD104", "SD201", "SD102", "SD203", "SD202")
def new_axis(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """An axis of size 1 in one operand, at every place; those that only broadcast are told and refused."""
    syntax = bench.syntax
    numpy = is_numpy(bench, bench.touching(finding))
    for node in _operands(bench, finding):
        rank = rank_of(bench.trace.events, syntax.span(node))
        if rank is None:
            continue
        for axis in range(rank + 1):
            if numpy:
                items = [":"] * rank
                items.insert(axis, "None")
                text = f"[{', '.join(items)}]"
            else:
                text = f".unsqueeze({-1 if axis == rank and finding.code in ('SD203', 'SD202') else axis})"
            yield Candidate(
                syntax.postfix(node, text),
                f"give it the axis that it lacks: `{syntax.written(node)}{text}`",
                kin="pairs" if finding.code == "SD203" else "",
            )


@proposes("SD203", "SD202", "SD105", "SD104")
def axis_less(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """An axis of size 1 less in one operand."""
    syntax = bench.syntax
    for node in _operands(bench, finding):
        rank = rank_of(bench.trace.events, syntax.span(node))
        if rank is None or rank < 2:
            continue
        if finding.code in ("SD105", "SD104"):
            yield from _one_call_less(bench, node)
            continue
        yield Candidate(
            syntax.postfix(node, ".squeeze(-1)"),
            f"drop the axis: `{syntax.written(node)}.squeeze(-1)`",
            kin="pairs" if finding.code == "SD203" else "",
        )


def _one_call_less(bench: Bench, node: cst.BaseExpression) -> Iterator[Candidate]:
    """The tensor without the ``squeeze`` or ``unsqueeze`` behind it."""
    syntax = bench.syntax
    if isinstance(node, cst.Call) and syntax.called(node) in ("squeeze", "unsqueeze"):
        receiver, place = syntax.receiver(node), syntax.span(node)
        if receiver is not None and place is not None:
            base = syntax.source(syntax.whole(receiver) or place)
            yield Candidate((syntax.replace(place, base),), f"take `{base}` as it is")


def _operands(bench: Bench, finding: Finding) -> Iterator[cst.BaseExpression]:
    """The tensors that a finding is about: what it stands on, and the parts of an operation or a call."""
    syntax = bench.syntax
    seen: set[Span] = set()
    for node in expressions(bench, finding.span):
        place = syntax.span(node)
        parts: list[cst.BaseExpression] = []
        if place == finding.span and not isinstance(node, cst.BinaryOperation):
            parts.append(node)
        if isinstance(node, cst.BinaryOperation):
            parts += [node.left, node.right]
        elif isinstance(node, cst.Call) and place is not None and place == finding.span:
            parts += [arg.value for arg in node.args if isinstance(arg.value, cst.Name | cst.Attribute | cst.Call)]
        for part in parts:
            span = syntax.span(part)
            if span is not None and span not in seen and not isinstance(part, cst.Integer | cst.Float):
                seen.add(span)
                yield part
        if isinstance(node, cst.BinaryOperation) and place is not None and place.contains(finding.span):
            return


@proposes("SD105")
def all_axes(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The axes that a permutation leaves out, at its end, where they were."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    outer = [n for _, n in syntax.around(finding.span) if isinstance(n, cst.Call)]
    for call in (n for n in (node, *outer) if isinstance(n, cst.Call)):
        receiver = syntax.receiver(call)
        if syntax.called(call) not in ("transpose", "permute") or receiver is None or "needs" not in finding.message:
            continue
        rank = rank_of(bench.trace.events, syntax.span(receiver))
        axes = [syntax.plain(arg.value) for arg in call.args]
        if rank is None or len(axes) >= rank or sorted(axes) != [str(i) for i in range(len(axes))]:
            return
        rest = ", ".join(str(i) for i in range(len(axes), rank))
        yield Candidate(syntax.argument(call, rest), f"name every axis: `{rest}` stays where it is", known=2)
        return


@proposes("SD105")
def any_rank(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``matmul``, which takes matrices and batches of them, for ``bmm``."""
    syntax = bench.syntax
    for call in calls(bench, finding, "bmm"):
        receiver = syntax.receiver(call)
        place = syntax.span(call.func)
        module = receiver is not None and syntax.plain(receiver) == "torch"
        if place is not None and module and len(call.args) == 2 and syntax.span(call.args[1].value) == finding.span:
            name = Span(place.end_line, place.end_column - len("bmm"), place.end_line, place.end_column)
            yield Candidate(
                (syntax.replace(name, "matmul"),), "write `matmul`, which takes one matrix for all examples"
            )
        return
