"""Axes in another order: heads split and merged, ``.T`` on more than two axes, ``view`` behind a transpose."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.sizes import Kind
from shapedoc.ops.measuring.regroup import regroup
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import calls, is_numpy, rank_of, shapes_of
from shapedoc.rules.reading.orders import orders, turned_back

__all__: list[str] = []

_VIEWS = ("view", "reshape")


def _swapped(numpy: bool, rank: int, one: int, other: int) -> str:
    """Exchange two axes, as each library writes it."""
    if not numpy:
        return f".transpose({one}, {other})"
    order = list(range(rank))
    order[one], order[other] = order[other], order[one]
    return f".transpose({', '.join(map(str, order))})"


def _view(bench: Bench, finding: Finding) -> tuple[cst.Call, cst.BaseExpression] | None:
    for call in calls(bench, finding, *_VIEWS):
        receiver = bench.syntax.receiver(call)
        if receiver is not None and bench.syntax.plain(receiver) not in ("np", "torch", "numpy"):
            return call, receiver
    return None


@proposes("SD601")
def split_in_order(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Split the axis in its own order first, and move the axes afterwards."""
    found = _view(bench, finding)
    if found is None:
        return
    call, receiver = found
    syntax, numpy = bench.syntax, is_numpy(bench, bench.touching(finding))
    spans = [syntax.whole(arg.value) for arg in call.args]
    places = [span for span in spans if span is not None]
    end = syntax.span(call)
    if len(places) < 3 or len(places) != len(spans) or end is None:
        return
    texts = [syntax.source(span) for span in places]
    for order in _orders(bench, receiver, call, len(places), split=True):
        if [texts[i] for i in order] == texts:
            continue
        back = turned_back(order, numpy)
        moved = [syntax.replace(places[k], texts[i]) for k, i in enumerate(order) if i != k]
        yield Candidate(
            (*moved, syntax.insert(end.end_line, end.end_column, back)),
            f"split the axis in its own order, then move the axes: `{back}`",
        )


def _orders(
    bench: Bench, receiver: cst.BaseExpression, call: cst.Call, rank: int, *, split: bool
) -> Iterator[tuple[int, ...]]:
    """Orders of axes that a view may be made in: the first one that is legal, where the shapes are known.

    Else every order in which axes are moved and none are exchanged across another one, which would turn round the
    factors of an axis that lies between.
    """
    before = next(shapes_of(bench.trace.events, bench.syntax.span(receiver)), None)
    after = next(shapes_of(bench.trace.events, bench.syntax.span(call)), None)
    sizes = after[0].sizes if after is not None else None
    known = before is not None and after is not None and sizes is not None
    for order in orders(rank):
        if known and before is not None and after is not None and sizes is not None:
            turned = (after if split else before)[1].axes
            if len(turned) != rank:
                return
            wanted = tuple(turned[i] for i in order)
            old, new = (before[1].axes, wanted) if split else (wanted, after[1].axes)
            if regroup(sizes, old, new).broken is None:
                yield order
                return
        elif sum(i != k for i, k in enumerate(order)) != 2 or abs(order.index(0) - order[0]) <= 1:
            yield order


@proposes("SD601")
def transposed_before(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Make the axes that are joined neighbours first."""
    found = _view(bench, finding)
    if found is None:
        return
    call, receiver = found
    syntax, events = bench.syntax, bench.touching(finding)
    numpy, rank = is_numpy(bench, events), rank_of(bench.trace.events, syntax.span(receiver))
    place, func = syntax.span(call), call.func
    if rank is None or place is None or not isinstance(func, cst.Attribute):
        return
    arguments = syntax.source(place)[len(syntax.source(place)) - _tail(syntax.source(place)) :]
    base = _bare(receiver)
    exact = _exact(bench, call, receiver)
    if exact is not None:
        text = f"{syntax.written(base)}{_swapped(numpy, rank, *exact)}"
        yield Candidate((syntax.replace(place, text),), f"exchange the axes instead: `{text}`")
        return
    for order in _orders(bench, receiver, call, rank, split=False):
        back = tuple(order.index(i) for i in range(rank))
        turn = turned_back(back, numpy)
        if "(" in arguments:
            joined = f"{syntax.written(base)}{turn}.reshape{arguments}"
            yield Candidate(
                (syntax.replace(place, joined),), f"bring the axes that are joined side by side first: `{turn}`"
            )


def _exact(bench: Bench, call: cst.Call, receiver: cst.BaseExpression) -> tuple[int, int] | None:
    """The two axes whose exchange gives just the sizes that the view is meant to give."""
    before = next(shapes_of(bench.trace.events, bench.syntax.span(receiver)), None)
    after = next(shapes_of(bench.trace.events, bench.syntax.span(call)), None)
    if before is None or after is None or before[1].rank != after[1].rank:
        return None
    event, old, new = after[0], before[1].axes, after[1].axes
    sizes = event.sizes
    if sizes is None:
        return None
    for one, other in combinations(range(len(old)), 2):
        order = list(range(len(old)))
        order[one], order[other] = order[other], order[one]
        if all(sizes.compare(old[i].dim, axis.dim).kind is Kind.ALWAYS for i, axis in zip(order, new, strict=True)):
            return one, other
    return None


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """The tensor without a ``.contiguous()`` behind it."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "contiguous":
        node = node.func.value
    return node


def _tail(text: str) -> int:
    """How long the argument list at the end of a call is, parentheses included."""
    depth = 0
    for length, character in enumerate(reversed(text), start=1):
        depth += (character == ")") - (character == "(")
        if depth == 0:
            return length
    return 0


@proposes("SD110")
def reshaped(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """``reshape`` copies where ``view`` cannot look."""
    for call in calls(bench, finding, "view"):
        receiver, place = bench.syntax.receiver(call), bench.syntax.span(call)
        if receiver is None or place is None:
            continue
        text = bench.syntax.source(place)
        arguments = text[len(text) - _tail(text) :]
        yield Candidate(
            (bench.syntax.replace(place, f"{bench.syntax.written(receiver)}.reshape{arguments}"),),
            "write `reshape`, which copies where it must",
        )
        return


@proposes("SD603")
def two_axes_turned(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Exchange two axes and leave the others where they are."""
    syntax = bench.syntax
    for _, node in (*syntax.inside(finding.span), *syntax.around(finding.span)):
        tensor: cst.BaseExpression | None = None
        if isinstance(node, cst.Attribute) and node.attr.value == "T":
            tensor = node.value
        elif isinstance(node, cst.Call) and syntax.called(node) == "transpose":
            receiver = syntax.receiver(node)
            if receiver is not None and syntax.plain(receiver) in ("np", "numpy"):
                tensor = node.args[0].value if len(node.args) == 1 else None
            elif not node.args:
                tensor = receiver
        place = syntax.span(node)
        if tensor is None or place is None:
            continue
        rank = rank_of(bench.trace.events, syntax.span(tensor))
        if rank is None:
            return
        turn = _swapped(is_numpy(bench, bench.touching(finding)), rank, rank - 2, rank - 1)
        text = f"{syntax.written(tensor)}{turn}"
        yield Candidate((syntax.replace(place, text),), f"exchange the last two axes alone: `{text}`")
        return
