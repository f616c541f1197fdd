"""SD206 squeeze-drops-batch."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.axis_names import BATCH
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Problem, Trace
from shapedoc.core.value import Tensor, Value
from shapedoc.rules.contractions import literal, tensor_operands
from shapedoc.rules.elementwise import ELEMENTWISE
from shapedoc.rules.flow import Graph, axis_at, events_of, graph, result_shape, shape_at
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.said_squeezed import says_what_is_left
from shapedoc.rules.walks import twins
from shapedoc.rules.wording import call_labels, finding, made_by, shape_text, text_of

__all__ = ["RULE", "squeezes_batch"]

_BATCH = BATCH | {"n", "n_b", "nb"}


def check(trace: Trace) -> Iterator[Finding]:
    best: dict[Span, Finding] = {}
    for event in sorted(trace.events, key=lambda e: len(e.calls)):
        if event.short != "squeeze" or event.span in best:
            continue
        problem = next((p for p in event.problems if p.kind == "squeeze-unknown"), None)
        found = _of_all(trace, event, problem) if problem is not None else _of_one(trace, event)
        found = found or _of_some(trace, event)
        if found is not None and not _is_put_back(trace, event) and not says_what_is_left(trace, event):
            best[event.span] = found
    yield from best.values()


def squeezes_batch(trace: Trace, event: Event) -> bool:
    """Whether ``x.squeeze(0)`` names the batch, which is told of."""
    return event.short == "squeeze" and _of_one(trace, event) is not None and not _is_put_back(trace, event)


def _is_put_back(trace: Trace, event: Event) -> bool:
    """Whether the author has thought of a batch of one, or what is left of it does as well.

    The axis is put back under a condition (``if batch_size == 1: x = x.unsqueeze(0)``), or by a view that names it; or
    the other way squeezes another; or a column (B, 1) only meets others element by element, which a number does too.
    """
    g = graph(trace)
    users = g.users[event.index]
    if any(e.short in ("unsqueeze", "view", "reshape") and len(e.branch) > len(event.branch) for e in users):
        return True
    operands = tensor_operands(event)
    shape = shape_at(event, operands[0]) if operands else None
    if users and shape is not None and all(_names_batch(trace, e, event, shape) for e in users):
        return True
    if shape is None or shape.rank is None:
        return False
    if literal(event.value("dim")) == 0 and all(e.short == "phi" for e in users) and _is_met(trace, shape.rank):
        return True
    if any(_picks_axis(g, phi, event) for phi in users):
        return True
    return (shape.rank == 2 and _meets_only(g, event)) or _becomes_one(g, event)


def _picks_axis(g: Graph, phi: Event, event: Event) -> bool:
    """Whether the other way squeezes another axis of the same value: the author knows which of them is 1 there.

    ``x.squeeze(0) if packed else x.squeeze(1)``: what is packed is a batch of one.
    """
    number = literal(event.value("dim"))
    if phi.short != "phi" or number is None:
        return False
    others = [e for e in g.inputs(phi) if e is not event and e.short == "squeeze"]
    squeezed = event.value("input")
    return any(e.value("input") is squeezed and literal(e.value("dim")) not in (None, number) for e in others)


def _names_batch(trace: Trace, view: Event, event: Event, shape: Shape) -> bool:
    """Whether a view of what was squeezed asks for the batch that it had, by a size that was read before."""
    result = result_shape(view)
    if view.short not in ("view", "reshape") or result is None or not result.prefix or event.sizes is None:
        return False
    batch = next((a for a in shape.axes if _is_batch(event, a, len(shape.axes))), None)
    asked = trace.source(view.span).rpartition(view.short)[2]
    if batch is None or ".size(" in asked or ".shape" in asked:
        return False
    return event.sizes.compare(result.prefix[0].dim, batch.dim).ok


def _is_met(trace: Trace, rank: int) -> bool:
    """Whether the file gives an argument its first axis back where it has one fewer than `rank`: under a condition.

    ``if x.dim() == 1: x = x.unsqueeze(0)``, in the function that takes what another one hands out.
    """
    for event in events_of(trace, frozenset(("unsqueeze",))):
        given, kept = event.operand("input"), result_shape(event)
        if not event.branch or given is None or literal(event.value("dim")) != 0:
            continue
        argument = isinstance(given.value, Tensor) and given.value.event < 0
        if argument and kept is not None and event.sizes is not None and event.sizes.shape(kept).rank == rank:
            return True
    return False


def _meets_only(g: Graph, event: Event) -> bool:
    """Whether a value is used element by element and no otherwise, until it meets one that has its axis."""
    users = g.users[event.index]
    return bool(users) and all(
        e.short in ELEMENTWISE
        and (
            any(g.producer(o.value) is not event and o.shape is not None and o.shape.items for o in tensor_operands(e))
            or _meets_only(g, e)
        )
        for e in users
    )


def _becomes_one(g: Graph, event: Event) -> bool:
    """Whether nothing but one number is made of a value: ``(word.squeeze() == end).all()``."""
    users = g.users[event.index]
    return bool(users) and all(
        (e.short in _REDUCES and e.operand("dim") is None)
        or (e.short in ELEMENTWISE and len(tensor_operands(e)) == 1 and _becomes_one(g, e))
        for e in users
    )


_REDUCES = frozenset(("all", "any", "sum", "mean", "max", "min", "amax", "amin"))


def _is_batch(event: Event, axis: Axis, rank: int) -> bool:
    """Whether an axis is the batch: a module takes it for that, or the author calls it so.

    rank: of its tensor; a table (N, d) may have N rows of anything.
    """
    sizes = event.sizes
    if sizes is None or axis.dim.const is not None:
        return False
    dim = sizes.resolve(axis.dim)
    if sizes.role(axis, "one") is not None or dim.sym is None:
        return False  # seen to be 1 here; a batch times something else is hardly ever 1
    name = dim.sym.name.lower()
    if "beam" in name:
        return False
    if name in _BATCH and (len(name) > 1 or rank > 2):
        return True
    others = any(sizes.role(axis, role) is not None for role in ("time", "feature"))
    return sizes.role(axis, "batch") is not None and not others


def _of_all(trace: Trace, event: Event, problem: Problem) -> Finding | None:
    """``squeeze()``: an axis of size 1 is to go, or none at all, and the batch goes when it is 1."""
    operands = tensor_operands(event)
    shape = shape_at(event, operands[0]) if operands else None
    if shape is None or shape.rank is None:
        return None
    if not any(a.dim.const == 1 for a in shape.axes):
        few = shape.rank < 3 and not _is_mapped(event, shape)
        if few or _is_shown(graph(trace), event):
            return None  # what is only shown may well lose its batch
    batch = next(
        (shape.axes[i] for i in problem.axes if i < shape.rank and _is_batch(event, shape.axes[i], shape.rank)), None
    )
    if batch is None or event.sizes is None or _is_product(trace, event, shape.axes.index(batch)):
        return None
    ones = [i for i, a in enumerate(shape.axes) if a.dim.const == 1]
    kept = Shape(tuple(a for a in shape.axes if a.dim.const != 1))
    text, size = text_of(trace, operands[0]), event.sizes.show(batch.dim)
    keyword = "axis" if _is_numpy(event) else "dim"
    places = [i - shape.rank if i > shape.rank // 2 else i for i in ones]
    wanted = f"{places[0]}" if len(places) == 1 else f"{keyword}={tuple(places)}" if places else ""
    which = f"the batch `{size}`" if size != "?" else "the batch"
    return _squeezed(trace, event, text, which, shape_text(event, shape), shape_text(event, kept), wanted)


def _is_mapped(event: Event, shape: Shape) -> bool:
    """Whether a layer of a model made the last axis, of a size that may be 1, in a step or a forward pass of it."""
    sizes, last = event.sizes, shape.axes[-1] if shape.axes else None
    made = sizes is not None and last is not None and last.dim.named and sizes.role(last, "feature") is not None
    return made and any(
        name.rpartition(".")[2] == "forward" for name in (event.function, *(c.function for c in event.calls))
    )


def _is_shown(g: Graph, event: Event) -> bool:
    """Whether nothing more is computed with a value than what a picture or a file of it takes."""
    return all(e.short in _TAKES_OUT and (_is_array(e.result) or _is_shown(g, e)) for e in g.users[event.index])


# What takes a value out of a model.
_TAKES_OUT = frozenset(("numpy", "tolist", "detach", "cpu", "float", "clone"))


def _is_array(value: Value) -> bool:
    return not isinstance(value, Tensor) or value.library == "numpy"


def _is_product(trace: Trace, event: Event, place: int) -> bool:
    """Whether some walk knows an axis for the batch times something else, which is hardly ever 1."""
    for other in (event, *twins(trace, event)):
        shape = shape_at(other, tensor_operands(other)[0])
        axis = axis_at(shape, place)
        if axis is not None and other.sizes is not None:
            dim = other.sizes.resolve(axis.dim)
            if dim.sym is None and dim.const is None:
                return True
    return False


def _squeezed(trace: Trace, event: Event, text: str, which: str, actual: str, expected: str, wanted: str) -> Finding:
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"`squeeze()` of {text} {actual} drops {which} too when it is 1",
        tensor=text,
        actual=actual,
        expected=expected,
        labels=made_by(trace, tensor_operands(event)[0].value, event, text) + call_labels(event),
        why="without an axis, `squeeze` drops every axis of size 1: the rank depends on the size of the batch",
        notes=("fails for a batch of one, such as the last of an epoch or the one at inference",),
        help=f"name the axis: `squeeze({wanted})`"
        if wanted
        else "name the axis that is to go, or leave `squeeze` away",
        causes=(f"{which} in {event.function}",),
    )


def _of_some(trace: Trace, event: Event) -> Finding | None:
    """``squeeze()`` where only the first axis of the operand is known, a 1, and of the result that it has the batch."""
    operands = tensor_operands(event)
    given, kept = (shape_at(event, operands[0]), result_shape(event)) if operands else (None, None)
    if event.sizes is None or given is None or kept is None or given.rank is not None or event.value("dim") is not None:
        return None
    shape = event.sizes.shape(kept)
    if shape.rank is None or shape.rank < 2 or not given.prefix or given.prefix[0].dim.const != 1:
        return None
    batch = next((a for a in shape.axes if _is_batch(event, a, shape.rank + 1)), None)
    if batch is None:
        return None
    text, size = text_of(trace, operands[0]), event.sizes.show(batch.dim)
    return _squeezed(trace, event, text, f"the batch `{size}`", shape_text(event, given), shape_text(event, shape), "0")


def _put_in(g: Graph, made: Event, event: Event) -> bool:
    """Whether the function that squeezes put a first axis of 1 into what the tensor was made of."""
    return any(
        e.function == event.function and e.short == "unsqueeze" and literal(e.value("dim")) == 0
        for e in g.back(made, lambda _: True)
    )


def _of_one(trace: Trace, event: Event) -> Finding | None:
    """``squeeze(0)`` of a tensor whose axis 0 is the batch."""
    operands = tensor_operands(event)
    number = literal(event.value("dim"))
    shape = shape_at(event, operands[0]) if operands else None
    axis = axis_at(shape, number) if number is not None else None
    rank = 3 if shape is None or shape.rank is None else shape.rank
    if axis is None or shape is None or event.sizes is None or not _is_batch(event, axis, rank) or rank < 2:
        return None
    if not any(name.rpartition(".")[2] == "forward" for name in (event.function, *(c.function for c in event.calls))):
        return None  # who decodes one sentence knows that its batch is 1
    made = graph(trace).producer(operands[0].value)
    if made is not None and len(event.branch) > len(made.branch):
        return None  # who names an axis under a condition knows that it is 1 there
    if made is not None and not event.sizes.resolve(axis.dim).named and _put_in(graph(trace), made, event):
        return None  # a batch of one, taken away where it was put in
    text, size = text_of(trace, operands[0]), event.sizes.show(axis.dim)
    named = f" `{size}`" if size != "?" else ""
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"`squeeze({number})` of {text} {shape_text(event, shape)}: axis {number} is the batch{named}",
        tensor=text,
        actual=shape_text(event, shape),
        expected=shape_text(event, shape),
        labels=made_by(trace, operands[0].value, event, text) + call_labels(event),
        why="`squeeze` does nothing where the axis is not 1: the rank of the result depends on the size of the batch",
        notes=(f"line {line} takes the axis for the batch",) if (line := event.sizes.role(axis, "batch")) else (),
        help="leave the axis, or take one element of it by an index",
    )


def _is_numpy(event: Event) -> bool:
    return any(isinstance(o.value, Tensor) and o.value.library == "numpy" for o in event.operands)


RULE = Rule(
    code="SD206",
    name="squeeze-drops-batch",
    severity="warning",
    summary="A `squeeze` drops the batch when it holds one example.",
    what="Looks for `squeeze()` without an axis on a tensor that has an axis of size 1 and a batch, and for "
    "`squeeze(0)` on the batch itself. An axis is the batch where a module takes it for that, or where the author "
    "calls it so. Where no axis is seen to be 1, a result that is only shown, or handed to NumPy at once, is that of "
    "one example, whose batch is what the `squeeze` is for. An axis that is named under a condition, as in "
    "`if not batched: x = x.squeeze(0)`, is known to be 1 there.",
    why="`squeeze()` drops every axis of size 1. With a batch of one the result has one axis fewer than the code after "
    "it expects: it raises there, or broadcasts.",
    instead="Name the axis: `scores.squeeze(-1)`.",
    source="PyTorch documentation, torch.squeeze (Warning).",
    bad=(
        Example(
            """\
import torch


def score(memory, state):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, state.unsqueeze(2)).squeeze()  # <- SD206
    return torch.bmm(torch.softmax(scores, dim=1).unsqueeze(1), memory)  # <- SD111


result = score(torch.randn(1, 5, 6), torch.randn(1, 6))
""",
            raises="IndexError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def score(memory, state):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
    return torch.bmm(torch.softmax(scores, dim=1).unsqueeze(1), memory)


result = score(torch.randn(1, 5, 6), torch.randn(1, 6))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: names the axis: `squeeze(1)`.",
    kind="both",
)
