"""SD601 scrambled-view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Label, Span
from shapedoc.core.text import lines_in_words
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.ops.measuring.regroup import regroup
from shapedoc.rules.layout.copies import misordered
from shapedoc.rules.layout.merged_heads import merged_heads
from shapedoc.rules.layout.on_purpose import is_on_purpose
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.orders import exchanged, orders, pair_to_join, pairs_of, turn, turned_back
from shapedoc.rules.reading.recurrent import is_final_state
from shapedoc.rules.reading.wording import call_labels, finding, made_by, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_FILLED = "zeros ones full empty"
_UNIFORM = names(" ".join(f"{n} {n}_like new_{n}" for n in _FILLED.split()))
_NEIGHBOURS = "so that the joined axes are neighbours"
_PERMUTE = "move the axes with `permute` first, so that those which are joined or split stand side by side"
_GRAVITY: dict[Severity, int] = {"note": 0, "warning": 1, "error": 2}


def check(trace: Trace) -> Iterator[Finding]:
    best: dict[Span, Finding] = {}
    walks: dict[Span, list[Event]] = {}
    for event in sorted((e for e in trace.events if e.problems), key=lambda e: (not _is_named(e), len(e.calls))):
        for problem in event.problems:
            if problem.kind != "scrambled-view":
                continue
            found = _found(trace, event, problem)
            if found is None:
                continue
            walks.setdefault(event.span, []).append(event)
            before = best.get(event.span)
            if before is None or _GRAVITY[found.severity] > _GRAVITY[before.severity]:
                best[event.span] = found
    yield from _first(trace, best, walks)
    yield from merged_heads(trace, RULE.code, RULE.name)


def _first(trace: Trace, scrambles: dict[Span, Finding], walks: dict[Span, list[Event]]) -> Iterator[Finding]:
    """What is scrambled first; what the same function scrambles again afterwards is told with it."""
    errors = sorted(span for span, found in scrambles.items() if found.severity == "error")
    roots: dict[Span, Span] = {}
    for span in errors:
        root = next((r for r in errors if r < span and _comes_of(trace, walks[span], walks[r])), None)
        if root is not None:
            roots[span] = roots.get(root, root)
    for span, found in scrambles.items():
        again = [s for s, root in roots.items() if root == span]
        if span not in roots:
            labels = tuple(Label(s, "cut anew here") for s in again)
            told = (f"cut anew on {lines_in_words(s.line for s in again)}: right this one first",) if again else ()
            yield replace(found, notes=(*found.notes, *told), labels=(*found.labels, *labels))


def _comes_of(trace: Trace, walks: list[Event], roots: list[Event]) -> bool:
    """Whether in some walk what is scrambled was made of a scrambled tensor, or this one of the same tensor.

    Both stand in the text of one function, and happen in the same call of it.
    """
    g = graph(trace)
    inside: dict[tuple[str, tuple[Call, ...]], list[Event]] = {}
    for root in roots:
        inside.setdefault((root.function, root.calls), []).append(root)
    for event in walks:
        before = [r for r in inside.get((event.function, event.calls), ()) if r.index < event.index]
        last = max(before, key=lambda r: r.index, default=None)
        if last is not None and (_made_of(g, event, last) or _beside(g, event, last)):
            return True
    return False


def _made_of(g: Graph, event: Event, root: Event) -> bool:
    source = g.main_source(event)
    return source is not None and any(e is root for e in g.back(source, lambda e: e.index > root.index))


def _beside(g: Graph, event: Event, root: Event) -> bool:
    """Whether an event cuts what another one, which cuts a tensor of the same shape, made its own of."""
    source, other = g.main_source(event), g.main_source(root)
    if source is None or other is None or _cut(event) != _cut(root):
        return False
    return any(e is source for e in g.back(other, lambda e: e.calls == root.calls))


def _cut(event: Event) -> str:
    """The shape of what is cut."""
    return shape_text(event, event.operands[0].shape) if event.operands else ""


def _is_named(event: Event) -> bool:
    shape = result_shape(event)
    return shape is not None and any(a.dim.named for a in shape.axes)


def _found(trace: Trace, event: Event, problem: Problem) -> Finding | None:
    operand = event.operand(problem.operands[0]) if problem.operands else None
    before, after = shape_at(event, operand), result_shape(event)
    if operand is None or before is None or after is None or event.sizes is None:
        return None
    if is_final_state(trace, operand) or not problem.axes or problem.axes[0] >= len(before.axes):
        return None
    into = problem.detail.get("into", "")
    met = after.axes[int(into)] if into.isdigit() and int(into) < len(after.axes) else before.axes[problem.axes[0]]
    torn = before.axes[problem.axes[0]], met
    if _numbers_only(event, before, after) or _is_assumed(before) or _is_assumed(after) or _is_shifted(trace, operand):
        return None
    if not _is_torn(event.sizes, before.axes, after.axes) or misordered(trace, before.axes[problem.axes[0]]):
        return None
    if _is_uniform(trace, operand) or is_on_purpose(trace, event, before, after):
        return None
    text, name = text_of(trace, operand), event.short
    ours, theirs = event.sizes.show_shape(before), event.sizes.show_shape(after)
    help_, expected = _cure(event, event.sizes, operand, before, after, text)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity=_severity(before, after, torn),
        message=f"`{name}` of {text} {ours} as {theirs} mixes up its axes: their order is not the same",
        tensor=text,
        actual=ours,
        expected=expected,
        labels=made_by(trace, operand.value, event, text) + call_labels(event),
        why=f"`{name}` never moves elements: it cuts the memory of {ours} anew, so that one row of the result holds "
        "pieces of several rows",
        help=help_,
    )


def _severity(before: Shape, after: Shape, torn: tuple[Axis, Axis]) -> Severity:
    """A size that nobody named may be 1, and then nothing is torn: unless the view exchanges the tensor's own sizes."""
    if all(a.dim.named or a.dim.const is not None for a in torn):
        return "error"
    gone, met = torn
    if met.dim in (a.dim for a in before.axes) and gone.dim.named:
        return "error"  # a named axis is joined across one that stays: heads across time
    if gone.dim in (a.dim for a in after.axes) and met.dim.named:
        return "error"
    if gone.dim.named and gone.dim in (a.dim for a in after.axes) and len(met.dim.syms) > 1:
        return "warning"  # channels before a grid, which is joined in front of them: nobody does it for a grid of one
    own = sorted((a.dim for a in before.axes), key=hash) == sorted((a.dim for a in after.axes), key=hash)
    return "warning" if own else "note"


def _is_torn(sizes: Sizes, before: tuple[Axis, ...], after: tuple[Axis, ...]) -> bool:
    """Whether the order is not kept, with all that is known in the end.

    A ``-1`` in front that would swallow the last axis says that this one is 1: ``view(-1, w * w)`` of (n, w, w, 1).
    """
    if regroup(sizes, before, after).broken is None or _has_namesakes(before + after):
        return False
    rest = after[0].dim.divide(before[-1].dim) if after and before and len(before) > 2 else None
    if rest is None or before[-1].dim.const is not None:
        return True
    return regroup(sizes, before[:-1], (Axis(rest), *after[1:])).broken is not None


def _has_namesakes(axes: tuple[Axis, ...]) -> bool:
    """Whether two quantities have one name: they are likely one, which the walk could not see."""
    syms = {s for a in axes for s in a.dim.syms if s.name}
    return len({s.name for s in syms}) < len(syms)


def _is_assumed(shape: Shape) -> bool:
    """Whether a size is a quotient of which it was assumed that it divides: of more than one size over another."""
    origins = (s.origin for a in shape.axes for s in a.dim.syms)
    return any(o.startswith("exact ") and any(c in o.partition(" // ")[0] for c in "*+") for o in origins)


def _is_shifted(trace: Trace, operand: Operand) -> bool:
    """Whether a tensor was padded before: relative positions are shifted by views of a padded tensor, on purpose."""
    made = graph(trace).producer(operand.value)
    through = SHAPING | names("cat pad concat new_zeros")
    return made is not None and any(
        e.short in ("cat", "pad", "concat") for e in graph(trace).back(made, lambda e: e.short in through)
    )


def _is_uniform(trace: Trace, operand: Operand) -> bool:
    """Whether all elements of a tensor are one number still: a view of them mixes up nothing."""
    made = graph(trace).producer(operand.value)
    return made is not None and graph(trace).origin(made).short in _UNIFORM


def _numbers_only(event: Event, before: Shape, after: Shape) -> bool:
    """Whether plain numbers are cut anew outside of any function, as one does with data."""
    return not event.calls and all(a.dim.const is not None for a in (*before.axes, *after.axes))


def _cure(event: Event, sizes: Sizes, operand: Operand, before: Shape, after: Shape, text: str) -> tuple[str, str]:
    """The transpose that is missing, after a view that keeps the order or before it, and the shape that is meant."""
    receiver = f"({text})" if any(c in text for c in " +*/@") else text
    numpy = event.op.startswith("numpy")
    if before.run is not None or after.run is not None:
        pair = pair_to_join(sizes, before, after)
        turned = f"{receiver}{turn(*pair, len(before.axes), numpy)}.reshape(...)" if pair is not None else ""
        return (f"{turned}, {_NEIGHBOURS}" if turned else _PERMUTE), ""
    for order in orders(len(after.axes)):
        wanted = tuple(after.axes[i] for i in order)
        if regroup(sizes, before.axes, wanted).broken is None:
            turned = turned_back(order, numpy)
            if [a.dim for a in wanted] == [a.dim for a in before.axes]:
                return f"{receiver}{turned}", sizes.show_shape(after)
            parts = ", ".join(sizes.show(a.dim) for a in wanted)
            return f"{receiver}.{event.short}({parts}){turned}", f"({parts})"
    for i, j in pairs_of(len(before.axes)):
        wanted = exchanged(before.axes, i, j)
        if regroup(sizes, wanted, after.axes).broken is None:
            turned = turn(i, j, len(before.axes), numpy)
            parts = ", ".join(sizes.show(a.dim) for a in wanted)
            return f"{receiver}{turned}.reshape(...), {_NEIGHBOURS}", f"({parts})"
    return _PERMUTE, ""


RULE = Rule(
    code="SD601",
    name="scrambled-view",
    severity="error",
    summary="A `view` or `reshape` regroups axes that are not neighbours.",
    what="Works out by exact arithmetic on the sizes whether a view keeps the order of elements: the running products "
    "of both shapes must form one chain. `(B, T, H*d)` to `(B, T, H, d)` does, `(B, T, H*d)` to `(B, H, T, d)` and "
    "`(B, H, T, d)` to `(B, T, H*d)` do not. Features that are cut into groups, exchanged with them and joined again "
    "are shuffled on purpose.",
    why="A view never moves elements. Heads that are split with `view(B, H, T, d)` hold pieces of several time steps "
    "each, and a merge without the transpose back mixes heads and time. The shapes are right, so nothing raises.",
    instead="Split with `x.view(B, T, H, d).transpose(1, 2)`, merge with `x.transpose(1, 2).reshape(B, T, H * d)`.",
    source="PyTorch documentation, torch.Tensor.view; Vaswani et al. 2017, section 3.2.2.",
    bad=(
        Example(
            """\
import torch


def split_heads(x, n_heads, d_head):
    batch_size, T, d_model = x.shape
    return x.view(batch_size, n_heads, T, d_head)  # <- SD601


result = split_heads(torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0)), 3, 4)
"""
        ),
        Example(
            """\
import numpy as np


def merge_heads(x):
    batch_size, n_heads, T, d_head = x.shape
    return x.reshape(batch_size, T, n_heads * d_head)  # <- SD601


result = merge_heads(np.random.default_rng(0).normal(size=(2, 3, 5, 4)))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def split_heads(x, n_heads, d_head):
    batch_size, T, d_model = x.shape
    return x.view(batch_size, T, n_heads, d_head).transpose(1, 2)


result = split_heads(torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0)), 3, 4)
"""
        ),
        Example(
            """\
import numpy as np


def merge_heads(x):
    batch_size, n_heads, T, d_head = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch_size, T, n_heads * d_head)


result = merge_heads(np.random.default_rng(0).normal(size=(2, 3, 5, 4)))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: splits an axis in its own order, or brings the axes that are "
        "joined side by side, and moves them afterwards."
    ),
    kind="silent",
)
