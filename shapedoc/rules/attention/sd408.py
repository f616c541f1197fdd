"""SD408 swapped-roles."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Trace
from shapedoc.core.value import Layer, Tensor, Value
from shapedoc.rules.attention.reverse import Turned, turned_scores
from shapedoc.rules.attention.unread import Unread, joined_twice, unread_memories
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import SHAPING, Graph, events_of, graph
from shapedoc.rules.reading.roles import Roles, ancestry, leaves, mixed_events, projection, roles
from shapedoc.rules.reading.walks import twins
from shapedoc.rules.reading.wording import call_labels, finding, label, named, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_MAPS = names("Linear.forward linear")
_OUT = SHAPING | names("Linear.forward Dropout.forward dropout LayerNorm.forward mul")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    for found in roles(trace):
        yield from _one_twice(trace, g, found)
        if found.sure:
            yield from _other_sequence(trace, g, found)
            yield from _exchanged(trace, g, found)
    told: set[Span] = set()
    for turned in turned_scores(trace):
        if turned.scores.span not in told:
            told.add(turned.scores.span)
            yield _features_compared(trace, turned)
    for unread in (*unread_memories(trace), *joined_twice(trace)):
        if unread.event.span not in told:
            told.add(unread.event.span)
            yield _left_unread(trace, unread)


def _features_compared(trace: Trace, found: Turned) -> Finding:
    """Scores that are the key, turned, times the query."""
    key, query, values = (text_of(trace, o) for o in (found.left, found.right, found.values))
    return _report(
        trace,
        found.scores,
        None,
        f"the scores are {key} times {query}: they compare the features of keys and queries, summed over the places",
        key,
        label(found.weights.span, "shares are made of them here")
        + label(found.context.span, f"and {values} is summed with these"),
        "a score compares one query with one key: it is the sum over their features, and the weights of one query are "
        "one row, beside the values that they weigh",
        "write the query first and turn the key: `query @ key.transpose(-2, -1)`",
    )


def _left_unread(trace: Trace, found: Unread) -> Finding:
    """One tensor twice, where another one was given or made to stand beside it, which nothing reads."""
    text = text_of(trace, found.instead)
    given = found.place is not None
    first = label(found.first.span, "the first attention") if found.first is not None else ()
    return _report(
        trace,
        found.event,
        found.instead.span,
        f"`{found.name}` is {'accepted' if given else 'made'} and never read, and {text} stands in its place",
        text,
        (label(found.place.span, "accepted here") if found.place is not None else ()) + first,
        "both attentions look at one sequence, and nothing of the other one reaches the output"
        if given
        else "joined with itself, a tensor says nothing new, and what was made for its place has no gradient",
        f"give it `{found.name}`" if given else f"write `{found.name}` here",
    )


def _one_twice(trace: Trace, g: Graph, found: Roles) -> Iterator[Finding]:
    """One projection serves as key and as value, and another one of the same sequence is never used."""
    key, value = projection(g, found.key.value), projection(g, found.value.value)
    if key is None or key is not value or isinstance(found.scores.value("self"), Layer):
        return
    idle = next((e for e in events_of(trace, _MAPS) if _is_idle(g, e, key)), None)
    if idle is None:
        return
    unused, used = _name(trace, idle), _name(trace, key)
    lacks_value = unused.removeprefix("self.").lstrip("_").lower()[:1] == "v"
    event, operand = (found.context, found.value) if lacks_value else (found.scores, found.key)
    made, of = ("context", "keys") if lacks_value else ("scores", "values")
    verb = "is" if lacks_value else "are"
    yield _report(
        trace,
        event,
        operand.span,
        f"the {made} {verb} made from {used}, and {unused} is never used",
        used,
        label(idle.span, f"{unused} is made here and used nowhere")
        + label(found.context.span if not lacks_value else found.scores.span, f"{used} is used here too"),
        f"scores compare queries with keys, and the context sums values: {of} in the {made} leave a projection without "
        "a gradient",
        f"use {unused} here",
    )


def _is_idle(g: Graph, event: Event, used: Event) -> bool:
    """Whether a projection of the same tensor in the same call, by a layer of its own, reaches nothing."""
    if event.short not in _MAPS or event is used or event.calls != used.calls or event.loops != used.loops:
        return False
    ours, theirs = event.value("input"), used.value("input")
    if not isinstance(ours, Tensor) or not isinstance(theirs, Tensor) or event.value("self") is used.value("self"):
        return False
    if (ours.event, ours.uid if ours.event < 0 else 0) != (theirs.event, theirs.uid if theirs.event < 0 else 0):
        return False
    return all(e.short in SHAPING for e in g.forward(event, lambda e: e.short in SHAPING)) and not _returned(g, event)


def _returned(g: Graph, event: Event) -> bool:
    """Whether something may still be done with a tensor that no event uses: it was never given a name."""
    return (
        not event.target
        and not any(e.target for e in g.forward(event, lambda e: e.short in SHAPING))
        and (not isinstance(event.result, Tensor) or not event.result.name)
    )


def _name(trace: Trace, event: Event) -> str:
    if event.target:
        return event.target
    if isinstance(event.result, Tensor) and event.result.name:
        return event.result.name
    return trace.source(event.span) if not event.span.path else "a projection"


def _other_sequence(trace: Trace, g: Graph, found: Roles) -> Iterator[Finding]:
    """Values that come from the sequence of the queries, while the keys come from another one."""
    if found.context.index not in mixed_events(trace):
        return
    values, keys = named(trace, found.value), named(trace, found.key)
    yield _report(
        trace,
        found.context,
        _given_twice(g, found) or found.value.span,
        f"the values {values} are of the queries' sequence, the keys {keys} of another one",
        values,
        label(found.key.span, f"the keys are made from {keys}") + label(found.query.span, "the queries"),
        "a weight belongs to a key: it weighs the value at the same place of the same sequence",
        f"take the values from the sequence of the keys: `{keys}`",
    )


def _given_twice(g: Graph, found: Roles) -> Span | None:
    """Where one sequence was taken for the queries and for the values: a call that was given it twice, or a map."""
    asked = {e.index for e in _chain(g, found.query.value)}
    chain = list(_chain(g, found.value.value))
    place = next((i for i, e in enumerate(chain) if e.index in asked), len(chain))
    common = chain[place] if place < len(chain) else None
    calls = found.context.calls
    ours = {c.id for c in common.calls} if common is not None else {c.id for c in calls[:1]}
    inner = next((c for c in calls if c.id not in ours), None)
    elsewhere = [e for e in twins(g.trace, found.context) if e.index not in mixed_events(g.trace)]
    if inner is not None and elsewhere:
        return inner.span if inner.span.line and not inner.span.path else None
    return chain[place - 1].span if place and not chain[place - 1].span.path else None


def _chain(g: Graph, value: Value | None) -> Iterator[Event]:
    """What a tensor was mapped and laid out from, the last first."""
    event = g.producer(value)
    for _ in range(200):
        if event is None:
            return
        yield event
        given = (o.value for o in tensor_operands(event))
        event = g.producer(next((v for v in given if isinstance(v, Tensor) and not v.learned), None))


def _exchanged(trace: Trace, g: Graph, found: Roles) -> Iterator[Finding]:
    """A residual that is of the keys' sequence and not of the queries'."""
    query, key = leaves(g, found.query.value), leaves(g, found.key.value)
    if not query or not key or query & key:
        return
    for event in g.forward(found.context, lambda e: e.short in _OUT):
        if event.short != "add":
            continue
        for operand in tensor_operands(event):
            other = leaves(g, operand.value)
            asked_of = ancestry(g, found.query.value)
            if other and not other & asked_of and other <= key and not _comes_from(g, operand.value, found.context):
                residual, asked = named(trace, operand), named(trace, found.query)
                yield _report(
                    trace,
                    found.scores,
                    found.query.span,
                    f"{asked} is the query, but the result is added to {residual}, which gives the keys",
                    asked,
                    label(event.span, f"added to {residual} here")
                    + label(found.key.span, f"the keys are {named(trace, found.key)}"),
                    "an attention gives one vector for every query: what it is added to must be what asks",
                    f"query with {residual}, and take keys and values from {asked}",
                )
                return


def _comes_from(g: Graph, value: object, context: Event) -> bool:
    event = g.producer(value) if isinstance(value, Tensor) else None
    return event is not None and any(e is context for e in g.back(event, lambda e: e.short in _OUT))


def _report(
    trace: Trace,
    event: Event,
    span: Span | None,
    message: str,
    tensor: str,
    labels: tuple[Label, ...],
    why: str,
    step: str,
) -> Finding:
    return finding(
        trace,
        event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=message,
        tensor=tensor,
        labels=labels + call_labels(event),
        why=why,
        help=step,
    )


RULE = Rule(
    code="SD408",
    name="swapped-roles",
    severity="error",
    summary="Query, key and value have changed places.",
    what="Follows query, key and value of an attention back to what they are made of. Reports scores that are made "
    "from the values (or a context from the keys) while the other projection is never used, values of the queries' "
    "sequence under keys of another one, a result that is added to the sequence that gave the keys, and scores that "
    "are the key, turned, times the query, by what both are called. Reports a memory that is accepted and never read "
    "in a block whose two attentions look at its own sequence, and a tensor that is joined with itself while another, "
    "made by the same call, is left.",
    why="Shapes agree in self-attention, and wherever two sequences are of one length: nothing raises, and one of the "
    "three maps never learns.",
    instead="`softmax(q @ k.transpose(-2, -1) / math.sqrt(d_head)) @ v`; in a decoder, `attn(x, memory, memory)`.",
    source="Vaswani et al. 2017, section 3.2.1, equation 1, and section 3.2.3.",
    bad=(
        Example(
            """\
import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = q @ v.transpose(-2, -1) / math.sqrt(x.size(-1))  # <- SD408
        return torch.softmax(scores, dim=-1) @ v


torch.manual_seed(0)
result = SelfAttention(8)(torch.randn(2, 5, 8))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, 2, batch_first=True)

    def forward(self, x, memory):
        context, _ = self.attn(x, memory, x)  # <- SD408
        return x + context


torch.manual_seed(0)
result = CrossAttention(8)(torch.randn(2, 5, 8), torch.randn(2, 5, 8))
"""
        ),
    ),
    good=(
        Example(
            """\
import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
        return torch.softmax(scores, dim=-1) @ v


torch.manual_seed(0)
result = SelfAttention(8)(torch.randn(2, 5, 8))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, 2, batch_first=True)

    def forward(self, x, memory):
        context, _ = self.attn(x, memory, memory)
        return x + context


torch.manual_seed(0)
result = CrossAttention(8)(torch.randn(2, 5, 8), torch.randn(2, 5, 8))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: takes the tensor whose role it is.",
    kind="silent",
)
