"""SD604 in-place-on-shared."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.layout.overlaps import Overlap, overlaps
from shapedoc.rules.reading.contractions import is_number, names, tensor_operands
from shapedoc.rules.reading.flow import Graph, graph
from shapedoc.rules.reading.softmaxes import softmaxes
from shapedoc.rules.reading.weights import followed, is_mask
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_CHANGES = names("mul div")
# What gives another view of the same memory.
_VIEWS = names(
    "view transpose permute swapaxes swapdims movedim t T mT squeeze unsqueeze expand_dims expand expand_as unflatten "
    "narrow select getitem chunk split unbind view_as squeeze_ unsqueeze_ detach phi"
)


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    seen: set[Span] = set()
    for overlap in overlaps(trace):
        if overlap.event.span not in seen and not overlap.event.span.path:
            seen.add(overlap.event.span)
            yield _overlapping(trace, overlap)
    for softmax in softmaxes(trace):
        for event, weights in followed(g, softmax):
            if event.short not in _CHANGES or not event.in_place or event.span in seen or event.span.path:
                continue
            memory = _changed(g, event, weights)
            if memory is not None and _is_given(g, event, memory):
                seen.add(event.span)
                yield _found(trace, event, memory, softmax.event)


def _changed(g: Graph, event: Event, weights: Event) -> Operand | None:
    """What is multiplied with the weights and holds the result from then on."""
    operands = tensor_operands(event)
    if len(operands) != 2:
        return None
    first, second = operands
    if g.producer(first.value) is weights or g.producer(second.value) is not weights:
        return None
    return None if is_number(first) or is_mask(g, first) else first


def _is_given(g: Graph, event: Event, memory: Operand) -> bool:
    """Whether the memory is the caller's: handed to the function, or there before the loop that changes it."""
    made = g.producer(memory.value)
    for _ in range(60):
        if made is None:
            return True
        if made.short not in _VIEWS:
            break
        made = g.main_source(made)
    if made is None:
        return True
    inside = bool(event.calls) and event.calls[-1].id in {call.id for call in made.calls}
    return not inside or (bool(event.loops) and made.loops[: len(event.loops)] != event.loops)


def _found(trace: Trace, event: Event, memory: Operand, softmax: Event) -> Finding:
    text = text_of(trace, memory)
    if isinstance(memory.value, Tensor) and memory.value.name and len(text) > 24:
        text = memory.value.name
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{text} itself is multiplied with the weights, for everybody who holds it",
        tensor=text,
        actual=shape_text(event, memory.shape),
        labels=label(softmax.span, "the weights are made here") + call_labels(event),
        why="`mul_` and `*=` write into the memory that the caller passed: the next step, and the next head, attend to "
        "states that have been weighted before",
        help=f"multiply into a new tensor: `weights * {text}`",
    )


def _overlapping(trace: Trace, found: Overlap) -> Finding:
    event, memory = found.event, found.event.operand("input")
    text = text_of(trace, memory)
    read, written = trace.source(found.source.span), trace.source(event.span)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error" if found.shift > 0 else "note",
        message=f"`{written}` is written over while it is read: it shares elements with `{read}`",
        tensor=text,
        actual=shape_text(event, memory.shape if memory is not None else None),
        labels=label(found.source.span, f"the same memory, {abs(found.shift)} along axis {found.axis}")
        + call_labels(event),
        why="torch copies element by element: where the parts of one memory overlap, what has been written is read "
        "again, and the first element may flood the axis"
        if found.shift > 0
        else "torch copies in no order that it promises: where the parts of one memory overlap, it raises, or reads "
        "what has been written on some devices",
        help=f"read from a copy: `{read}.clone()`",
        causes=("parts of one memory that are assigned to each other",),
    )


RULE = Rule(
    code="SD604",
    name="in-place-on-shared",
    severity="error",
    summary="Attention changes the encoder's outputs in place, and the next step uses them again; or a part of a "
    "tensor is assigned to another part that shares elements with it.",
    what="Follows attention weights to where they are multiplied with values. Reports a product that is written into "
    "the values (`mul_`, `*=`), where these were handed to the function or made before the loop. Reports assignments "
    "between two slices of one torch tensor that are shifted against each other by less than half of the axis; to the "
    "left, where what is read has not been written yet on a CPU, as a note.",
    why="The first step is right. Every later one attends to a memory that has been multiplied with the weights of all "
    "steps before it: what was not looked at fades out for ever. Nothing raises unless gradients are asked for, and "
    "then the message names another line.",
    instead="`context = (weights * memory).sum(dim=1)`, or `torch.bmm`, which make a new tensor; "
    "`x[:, 1:] = x[:, :-1].clone()`.",
    source="PyTorch documentation, Autograd mechanics, In-place operations with autograd; NumPy documentation, "
    "Universal functions (ufunc) basics, augmented assignment, and the release notes of 1.13 (operations where input "
    "and output overlap, which NumPy copies first); Bahdanau et al. 2015, equation 5.",
    bad=(
        Example(
            """\
import torch


def attend(state, memory):
    scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=1)
    return memory.mul_(weights.unsqueeze(2)).sum(dim=1)  # <- SD604


torch.manual_seed(0)
memory, states = torch.randn(2, 5, 7), torch.randn(3, 2, 7)
result = torch.stack([attend(state, memory) for state in states])
"""
        ),
        Example(
            """\
import torch


def shift(x):
    half = x.size(2) // 2
    x[:, 1:, :half] = x[:, :-1, :half]  # <- SD604
    return x


torch.manual_seed(0)
result = shift(torch.randn(2, 5, 6))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def attend(state, memory):
    scores = torch.bmm(memory, state.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=1)
    return (memory * weights.unsqueeze(2)).sum(dim=1)


torch.manual_seed(0)
memory, states = torch.randn(2, 5, 7), torch.randn(3, 2, 7)
result = torch.stack([attend(state, memory) for state in states])
"""
        ),
        Example(
            """\
import torch


def shift(x):
    half = x.size(2) // 2
    x[:, 1:, :half] = x[:, :-1, :half].clone()
    return x


torch.manual_seed(0)
result = shift(torch.randn(2, 5, 6))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: makes a new tensor.",
    kind="silent",
)
