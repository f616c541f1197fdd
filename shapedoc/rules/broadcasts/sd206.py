"""SD206 squeeze-drops-batch."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.shape import Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Problem, Trace
from shapedoc.core.value import Tensor, Value
from shapedoc.rules.reading.contractions import literal, tensor_operands
from shapedoc.rules.reading.flow import Graph, axis_at, graph, result_shape, shape_at
from shapedoc.rules.reading.said_squeezed import says_what_is_left
from shapedoc.rules.reading.squeezed import is_batch, is_put_back, named_batch
from shapedoc.rules.reading.walks import twins
from shapedoc.rules.reading.wording import call_labels, finding, made_by, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    best: dict[Span, Finding] = {}
    for event in sorted(trace.events, key=lambda e: len(e.calls)):
        if event.short != "squeeze" or event.span in best:
            continue
        problem = next((p for p in event.problems if p.kind == "squeeze-unknown"), None)
        found = _of_all(trace, event, problem) if problem is not None else _of_one(trace, event)
        found = found or _of_some(trace, event)
        if found is not None and not is_put_back(trace, event) and not says_what_is_left(trace, event):
            best[event.span] = found
    yield from best.values()


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
        (shape.axes[i] for i in problem.axes if i < shape.rank and is_batch(event, shape.axes[i], shape.rank)), None
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
    batch = next((a for a in shape.axes if is_batch(event, a, shape.rank + 1)), None)
    if batch is None:
        return None
    text, size = text_of(trace, operands[0]), event.sizes.show(batch.dim)
    return _squeezed(trace, event, text, f"the batch `{size}`", shape_text(event, given), shape_text(event, shape), "0")


def _of_one(trace: Trace, event: Event) -> Finding | None:
    """``squeeze(0)`` of a tensor whose axis 0 is the batch."""
    axis = named_batch(trace, event)
    if axis is None or event.sizes is None:
        return None
    operand, number = tensor_operands(event)[0], literal(event.value("dim"))
    text, shape, size = text_of(trace, operand), shape_at(event, operand), event.sizes.show(axis.dim)
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
        labels=made_by(trace, operand.value, event, text) + call_labels(event),
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
