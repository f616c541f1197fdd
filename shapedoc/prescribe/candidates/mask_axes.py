"""Which axes a mask varies along, and as which argument it is passed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import expressions, names_in_scope, rank_of, spots

__all__: list[str] = []

_KEYWORDS = (
    ("key_padding_mask", "attn_mask"),
    ("tgt_key_padding_mask", "tgt_mask"),
    ("memory_key_padding_mask", "memory_mask"),
    ("src_key_padding_mask", "src_mask"),
    ("src_key_padding_mask", "mask"),
)


@proposes("SD205")
def other_ones(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The axes of size 1 at other places: another ``unsqueeze``, another order of ``None`` and ``:``."""
    syntax = bench.syntax
    for span in spots(bench, finding, labels=True):
        for node in expressions(bench, span):
            if isinstance(node, cst.Call) and syntax.called(node) == "unsqueeze" and len(node.args) == 1:
                yield from _unsqueezed(bench, node)
            elif isinstance(node, cst.Subscript):
                yield from _indexed(bench, node)


def _unsqueezed(bench: Bench, call: cst.Call) -> Iterator[Candidate]:
    syntax = bench.syntax
    span = syntax.span(call.args[0].value)
    if span is None or not isinstance(call.args[0].value, cst.Integer | cst.UnaryOperation):
        return
    old = syntax.source(span)
    inner = syntax.receiver(call)
    same = inner.args[0].value if isinstance(inner, cst.Call) and syntax.called(inner) == "unsqueeze" else None
    taken = syntax.plain(same) if same is not None else ""
    for axis in (1, 2, 3):
        if str(axis) not in (old, taken):
            yield Candidate(
                (syntax.replace(span, str(axis)),), f"put the axis of size 1 where the queries are: `unsqueeze({axis})`"
            )


def _indexed(bench: Bench, node: cst.Subscript) -> Iterator[Candidate]:
    syntax = bench.syntax
    items = [element.slice for element in node.slice]
    texts = [
        "None"
        if isinstance(i, cst.Index) and syntax.plain(i.value) in ("None", "np.newaxis")
        else ":"
        if _full(i)
        else ""
        for i in items
    ]
    whole = syntax.span(node)
    base = syntax.whole(node.value)
    if whole is None or base is None or "" in texts or "None" not in texts:
        return
    place = Span(base.end_line, base.end_column, whole.end_line, whole.end_column)
    for order in dict.fromkeys(permutations(texts)):
        if list(order) != texts:
            text = f"[{', '.join(order)}]"
            yield Candidate((syntax.replace(place, text),), f"put the axes of size 1 where they belong: `{text}`")


def _full(item: cst.BaseSlice) -> bool:
    return isinstance(item, cst.Slice) and item.lower is None and item.upper is None and item.step is None


@proposes("SD205", "SD112", "SD102")
def missing_ones(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """A mask of the keys gets the axes of size 1 that it lacks."""
    syntax = bench.syntax
    node = syntax.at(finding.span)
    rank = rank_of(bench.trace.events, finding.span)
    if not isinstance(node, cst.BaseExpression) or rank is None or not 2 <= rank <= 3 or finding.code == "SD102":
        return
    exact = _ones_of(finding, rank)
    if exact:
        yield Candidate(
            syntax.postfix(node, exact), f"give the mask the axes that it lacks: `{exact}`", kin="ones", exact=True
        )
        return
    wanted = 4 if rank == 3 else 3
    for total in (wanted, 4):
        for order in dict.fromkeys(permutations([":"] * rank + ["None"] * (total - rank))):
            if order[0] == ":" and order[-1] == ":":
                text = f"[{', '.join(order)}]"
                yield Candidate(
                    syntax.postfix(node, text), f"give the mask the axes that it lacks: `{text}`", kin="ones"
                )


def _ones_of(finding: Finding, rank: int) -> str:
    """The index that makes ``expected`` of ``actual``, where they differ in axes of size 1 alone."""
    if not finding.expected.startswith("(") or not finding.actual.startswith("("):
        return ""
    wanted = [axis.strip() for axis in finding.expected.strip("()").split(",") if axis.strip()]
    given = [axis.strip() for axis in finding.actual.strip("()").split(",") if axis.strip()]
    if len(given) != rank or "1" in given or [axis for axis in wanted if axis != "1"] != given:
        return ""
    return f"[{', '.join('None' if axis == '1' else ':' for axis in wanted)}]"


@proposes("SD504")
def keys_alone(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Leave the queries out of a padding mask."""
    syntax = bench.syntax
    for node in expressions(bench, finding.span):
        place = syntax.whole(node)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitAnd) and place is not None:
            for part in (node.left, node.right):
                if _same_for_all_keys(bench, part):
                    continue
                yield Candidate(
                    (syntax.replace(place, syntax.written(part)),), f"mask the keys alone: `{syntax.plain(part)}`"
                )


def _same_for_all_keys(bench: Bench, node: cst.BaseExpression) -> bool:
    """Whether a mask's last axis, that of the keys, has size 1."""
    place = bench.syntax.span(node)
    for event in bench.trace.events:
        if event.span == place and event.shape is not None and event.sizes is not None:
            axes = event.sizes.shape(event.shape).axes
            return bool(axes) and axes[-1].dim.const == 1
    return False


@proposes("SD112")
def other_keyword(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """The mask as the argument that takes its shape, or without an axis too many."""
    syntax = bench.syntax
    for _, node in syntax.around(finding.span):
        if not isinstance(node, cst.Call) or syntax.span(node) == finding.span:
            continue
        for arg, found in zip(node.args, syntax.arguments(node), strict=True):
            if arg.keyword is None or found.span is None or not found.span.contains(finding.span):
                continue
            start = syntax.offset(found.span.line, found.span.column)
            at = syntax.text.rindex(arg.keyword.value, 0, start)
            line = syntax.text.count("\n", 0, at) + 1
            column = at - (syntax.text.rfind("\n", 0, at) + 1)
            place = Span(line, column, line, column + len(arg.keyword.value))
            for padding, other in _KEYWORDS:
                if arg.keyword.value == other:
                    yield Candidate((syntax.replace(place, padding),), f"pass it as `{padding}`")
                elif arg.keyword.value == padding:
                    yield Candidate((syntax.replace(place, other),), f"pass it as `{other}`")
            yield from _fewer_axes(bench, found.value)
        return


def _fewer_axes(bench: Bench, node: cst.BaseExpression) -> Iterator[Candidate]:
    syntax = bench.syntax
    if isinstance(node, cst.Call) and syntax.called(node) == "unsqueeze":
        receiver, place = syntax.receiver(node), syntax.span(node)
        if receiver is not None and place is not None:
            yield Candidate(
                (syntax.replace(place, syntax.plain(receiver)),), f"pass `{syntax.plain(receiver)}` as it is"
            )


@proposes("SD112")
def for_every_head(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """A mask for each example is repeated for each head, the heads innermost."""
    if "repeat_interleave" not in finding.help:
        return
    syntax = bench.syntax
    node = syntax.at(finding.span)
    scope = _heads(bench, finding)
    if isinstance(node, cst.BaseExpression):
        for heads in scope:
            text = f".repeat_interleave({heads}, dim=0)"
            yield Candidate(syntax.postfix(node, text), f"repeat the mask for every head: `{text}`")


def _heads(bench: Bench, finding: Finding) -> Iterator[str]:
    word = finding.help.partition("repeat_interleave(")[2].partition(",")[0]
    scope = names_in_scope(bench.syntax, finding.span)
    if word in scope:
        yield scope[word]
