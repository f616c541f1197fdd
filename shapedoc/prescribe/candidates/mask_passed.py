"""A mask that is there and reaches nothing."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event
from shapedoc.core.value import Tensor
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposes
from shapedoc.prescribe.places import is_numpy, rank_of
from shapedoc.rules.reading.masks import Meaning, Sign, masks

__all__: list[str] = []

_DEPTH = 3
# Whether a mask's true elements are kept or hidden, how many axes it has, whether it is boolean.
_Known = tuple[Sign, int, bool]
_LIBRARIES = ("F", "torch", "functional", "nn", "np", "numpy")


@proposes("SD503")
def passed(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Pass it to the attention that takes one, where its true elements are those to be hidden."""
    syntax = bench.syntax
    name = finding.tensor
    known = _known(bench, finding, name)
    if not name.isidentifier() or known is None or known[0] != "drop":
        return
    places = (finding.span, *(label.span for label in finding.labels if not label.span.path))
    for place in places:
        for span, node in (*syntax.inside(place), *syntax.around(place)):
            if not isinstance(node, cst.Call) or span.line != place.line:
                continue
            receiver = syntax.receiver(node)
            if receiver is None or syntax.plain(receiver) not in ("self", "F"):
                continue
            if any(arg.keyword and "mask" in arg.keyword.value for arg in node.args):
                continue
            for word in ("key_padding_mask", "attn_mask"):
                yield Candidate(syntax.argument(node, f"{word}={name}"), f"pass it: `{word}={name}`", exact=True)


@proposes("SD503")
def filled_in(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Fill the scores before the softmax that the finding shows, by what the callers' mask means."""
    syntax = bench.syntax
    name = finding.tensor
    known = _known(bench, finding, name)
    if known is None or not name.isidentifier():
        return
    sign, rank, boolean = known
    for label in finding.labels:
        place = label.span
        node = syntax.at(place) if not place.path and "`softmax`" in label.text else None
        statement = syntax.statement(place) if node is not None else None
        if not isinstance(node, cst.Call) or statement is None or not isinstance(statement[1], cst.Assign):
            continue
        receiver = syntax.receiver(node)
        scores = receiver if receiver is not None and syntax.plain(receiver).split(".")[-1] not in _LIBRARIES else None
        scores = scores or (node.args[0].value if node.args else None)
        wide = rank_of(bench.trace.events, syntax.span(scores)) if scores is not None else None
        if not isinstance(scores, cst.Name) or wide is None or rank > wide:
            continue
        for ones in _ones(rank, wide):
            mask = f"{name}{ones}"
            if sign == "keep":
                hidden = f"~{mask}" if boolean and not ones else f"{mask} == 0"
            else:
                hidden = mask if boolean else f"{mask} != 0"
            line = f'{scores.value} = {scores.value}.masked_fill({hidden}, float("-inf"))'
            if is_numpy(bench, bench.touching(finding)):
                line = f"{scores.value} = np.where({hidden}, -np.inf, {scores.value})"
            indent = syntax.source(Span(place.line, 0, place.line, statement[0].column))
            edit = syntax.insert(statement[0].line, 0, f"{indent}{line}\n")
            yield Candidate((edit,), f"mask the scores before the softmax: `{line}`", exact=True)


def _ones(rank: int, wide: int) -> tuple[str, ...]:
    """The indices that bring a mask of the keys to the axes of the scores."""
    if rank == wide:
        return ("",)
    if rank == 2:
        return (f"[:, {', '.join(['None'] * (wide - rank))}, :]",)
    return ()


# -- what the callers pass


def _known(bench: Bench, finding: Finding, name: str) -> _Known | None:
    """Whether a mask's true elements are kept or hidden, how many axes it has, and whether it is boolean."""
    found: set[_Known] = {
        (meaning.sign, rank, value.kind == "bool")
        for event in bench.trace.events
        for value in (event.result, *(o.value for o in event.operands))
        if isinstance(value, Tensor) and value.name == name and (meaning := masks(bench.trace).of(value)) is not None
        if (rank := value.shape.rank) is not None
    }
    function = bench.syntax.function(finding.span)
    if not found and function is not None:
        found = set(_given(bench, function[1], name, _DEPTH))
    return found.pop() if len(found) == 1 else None


def _given(bench: Bench, function: cst.FunctionDef, name: str, depth: int) -> Iterator[_Known]:
    """What the callers in the file pass as a parameter of a function."""
    syntax = bench.syntax
    names = [p.name.value for p in function.params.params]
    place = syntax.span(function)
    klass = syntax.klass(place) if place is not None else None
    if name not in names or depth == 0:
        return
    index = names.index(name) - (names[0] == "self")
    called = {function.name.value} if klass is None else _holders(bench, klass[1].name.value)
    for span, node in syntax.lowered.expressions.items():
        if not isinstance(node, cst.Call) or syntax.called(node) not in called:
            continue
        for position, arg in enumerate(node.args):
            if (arg.keyword.value == name) if arg.keyword is not None else position == index:
                yield from _meaning(bench, Span(*span), arg.value, depth)


def _holders(bench: Bench, klass: str) -> set[str]:
    """The attributes and variables that hold an object of a class."""
    found = set()
    for node in bench.syntax.lowered.statements.values():
        if isinstance(node, cst.Assign) and klass in _classes(bench, node.value):
            target = node.targets[0].target
            if isinstance(target, cst.Attribute):
                found.add(target.attr.value)
            elif isinstance(target, cst.Name):
                found.add(target.value)
    return found


def _classes(bench: Bench, node: cst.CSTNode) -> set[str]:
    return {bench.syntax.called(node)} if isinstance(node, cst.Call) else set()


def _meaning(bench: Bench, call: Span, node: cst.BaseExpression, depth: int) -> Iterator[_Known]:
    syntax = bench.syntax
    function = syntax.function(call)
    name = node.value if isinstance(node, cst.Name) else ""
    if function is not None and name in [p.name.value for p in function[1].params.params]:
        yield from _given(bench, function[1], name, depth - 1)
        return
    span = syntax.span(node)
    for event in bench.trace.events:
        here = event.span == span or (
            bool(name) and event.target == name and (function is None or function[0].contains(event.span))
        )
        if here and (found := _of(bench, event)) is not None:
            yield found


def _of(bench: Bench, event: Event) -> _Known | None:
    meaning: Meaning | None = masks(bench.trace).made(event)
    shape = event.sizes.shape(event.shape) if event.sizes is not None and event.shape is not None else None
    if meaning is None or shape is None or shape.rank is None:
        return None
    return meaning.sign, shape.rank, isinstance(event.result, Tensor) and event.result.kind == "bool"
