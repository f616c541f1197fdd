"""SD802 cache-offset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.finding import Finding
from shapedoc.core.sizes import Kind
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Int, NoneValue, Seq, SliceValue, Value
from shapedoc.rules.positions.caches import Join, grown, joins, key_join
from shapedoc.rules.reading.contractions import PRODUCTS, literal, names
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, axis_at, graph, shape_at
from shapedoc.rules.reading.positions import from_zero, starts_at_zero
from shapedoc.rules.reading.rotary import compared_with, rotations
from shapedoc.rules.reading.softmaxes import is_axis, softmaxes
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

# The diagonal that a causal mask of a whole sequence has.
_FIRST_DIAGONALS = {"tril": 0, "triu": 1}
_TURNING = KEEPS | names("cat concat neg")
_WHY = (
    "with a cache the queries are the last of the keys; a causal mask that starts at the first row takes them for the "
    "first, and hides the keys of the cache"
)


def check(trace: Trace) -> Iterator[Finding]:
    for event in trace.events:
        if event.short == "scaled_dot_product_attention":
            yield from _is_causal(trace, event)
        elif event.short == "getitem":
            yield from _square(trace, event)
        elif event.short in _FIRST_DIAGONALS:
            yield from _top_left(trace, event)
    yield from _positions(trace)
    yield from _queries(trace)


def _is_causal(trace: Trace, event: Event) -> Iterator[Finding]:
    causal = event.operand("is_causal")
    if causal is None or not isinstance(causal.value, Bool) or causal.value.value is not True:
        return
    join = key_join(trace, event, "key")
    query, key = event.operand("query"), event.operand("key")
    shape = shape_at(event, query)
    if join is None or query is None or key is None or shape is None or len(shape.suffix) < 2:
        return
    if event.sizes is None or event.sizes.compare(shape.suffix[-2].dim, join.axis.dim).kind is Kind.ALWAYS:
        return
    q, k = text_of(trace, query), text_of(trace, key)
    yield finding(
        trace,
        event,
        causal.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"a causal mask aligned with the first key, though {k} holds the keys of a cache as well",
        tensor=k,
        actual=shape_text(event, key.shape),
        labels=label(join.event.span, "the cache is joined here") + call_labels(event),
        why=_WHY,
        help=f"is_causal={q}.size(-2) == {k}.size(-2)",
    )


def _square(trace: Trace, event: Event) -> Iterator[Finding]:
    """``causal[:T, :S]`` of a square mask, where the S keys are those of the cache and T new ones."""
    rows, columns = _cuts(event.value("index"))
    if rows is None or columns is None or event.sizes is None or not _triangular(trace, event):
        return
    join = _grows_to(trace, event, columns)
    if join is None or event.sizes.resolve(rows) == event.sizes.resolve(columns):
        return
    index = event.operand("index")
    source = event.operand("input")
    t, s = event.sizes.show(rows), event.sizes.show(columns)
    mask = text_of(trace, source)
    yield finding(
        trace,
        event,
        index.span if index is not None else None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the first {t} rows of the causal mask {mask}, for queries that are the last of {s} keys",
        tensor=mask,
        actual=f"({t}, {s})",
        labels=label(join.event.span, "the cache is joined here") + call_labels(event),
        why=_WHY,
        help=f"{mask}[{s} - {t}:{s}, :{s}]",
    )


def _top_left(trace: Trace, event: Event) -> Iterator[Finding]:
    """``torch.tril(torch.ones(T, S))``: the first of S keys for the first of T queries."""
    shape, sizes = event.shape, event.sizes
    diagonal = event.value("diagonal") or event.value("k")
    number = literal(diagonal) if isinstance(diagonal, Int) else 0 if diagonal is None else None
    if shape is None or sizes is None or len(shape.suffix) < 2 or number != _FIRST_DIAGONALS[event.short]:
        return
    rows, columns = (sizes.resolve(axis.dim) for axis in shape.suffix[-2:])
    join = _grows_to(trace, event, columns)
    if join is None or rows in (columns, ONE) or not set(event.branch) <= set(join.event.branch):
        return
    t, s = sizes.show(rows), sizes.show(columns)
    yield finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"a causal mask ({t}, {s}) aligned with the first key, for queries that are the last of {s} keys",
        tensor=event.target or event.short,
        actual=f"({t}, {s})",
        labels=label(join.event.span, "the cache is joined here") + call_labels(event),
        why=_WHY,
        help=f"diagonal={s} - {t}" if number == 0 else f"diagonal={s} - {t} + 1",
    )


def _positions(trace: Trace) -> Iterator[Finding]:
    """Positions counted from 0 in a step whose keys are joined to those of a cache."""
    g = graph(trace)
    seen: set[Span] = set()
    for join in joins(trace):
        new = join.event.operands[0].value
        made = g.producer(new.items[1]) if isinstance(new, Seq) else None
        if made is None or not _attended(trace, join):
            continue
        for event in g.back(made, lambda e: True):
            counted = from_zero(g, event)
            if counted is not None and counted.span not in seen:
                seen.add(counted.span)
                yield _from_zero(trace, join, counted, label(event.span, "looked up here"))


def _queries(trace: Trace) -> Iterator[Finding]:
    """Queries that are rotated by positions counted from 0, against keys that were joined to those of a cache."""
    g = graph(trace)
    seen: set[Span] = set()
    turned = [r for r in rotations(trace).values() if r.counted is not None and starts_at_zero(g, r.counted)]
    made = {j.event.index: j for j in joins(trace)} if turned else {}
    for rotation in turned if made else ():
        keys = compared_with(g, rotation)
        join = _behind(g, keys, made)
        if rotation.counted is None or join is None or _behind(g, rotation.vector, made) is not None:
            continue
        if rotation.counted.span not in seen:
            seen.add(rotation.counted.span)
            yield _from_zero(trace, join, rotation.counted, label(rotation.event.span, "the queries are turned here"))


def _behind(g: Graph, operand: Operand | None, made: Mapping[int, Join]) -> Join | None:
    """The join that a tensor was made of."""
    source = g.producer(operand.value) if operand is not None else None
    behind = g.back(source, lambda e: e.short in _TURNING) if source is not None else ()
    return next((made[e.index] for e in behind if e.index in made), None)


def _attended(trace: Trace, join: Join) -> bool:
    """Whether what was joined are the keys of an attention: the axis that grows is normalised."""
    g, axes = graph(trace), grown(trace, join)
    used = {e.short for e in g.forward(join.event, lambda e: e.short in KEEPS)}
    if not used & (PRODUCTS | {"scaled_dot_product_attention"}):
        return False  # tokens that are read anew, all of them
    if any(s.axis is not None and is_axis(s.axis, a) for s in softmaxes(trace) for a in axes):
        return True
    fused = (e for e in trace.events if e.short == "scaled_dot_product_attention")
    keys = (axis_at(shape_at(e, e.operand("key")), -2) for e in fused)
    return any(k is not None and is_axis(k, a) for k in keys for a in axes)


def _from_zero(trace: Trace, join: Join, counted: Event, used: tuple[Label, ...]) -> Finding:
    place = _set_to_zero(counted)
    return finding(
        trace,
        counted,
        place or (counted.span if not counted.span.path else None),
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message="positions are counted from 0 at every step, though the keys of a cache stand before them",
        tensor=counted.target or "positions",
        actual=shape_text(counted, counted.shape),
        labels=used + label(join.event.span, "the cache is joined here") + call_labels(counted),
        why="a new token stands behind all that the cache holds; counted from 0, every step stands at the beginning",
        help="start at the length of the cache: `torch.arange(past, past + T)`",
    )


def _set_to_zero(counted: Event) -> Span | None:
    """Where the start of a range was set to 0, where it is a variable."""
    limits = counted.value("limits")
    start = limits.items[0] if isinstance(limits, Seq) and len(limits.items) > 1 else None
    return start.place if isinstance(start, Int) and start.place is not None and not start.place.path else None


def _cuts(index: Value | None) -> tuple[Dim | None, Dim | None]:
    """Where the last two axes are cut, if both are cut from the beginning."""
    if not isinstance(index, Seq) or len(index.items) < 2:
        return None, None
    ends = []
    for part in index.items[-2:]:
        if not isinstance(part, SliceValue) or not isinstance(part.upper, Int):
            return None, None
        if not (isinstance(part.lower, NoneValue) or (isinstance(part.lower, Int) and part.lower.value == 0)):
            return None, None
        ends.append(part.upper.dim)
    return ends[0], ends[1]


def _triangular(trace: Trace, event: Event) -> bool:
    source = graph(trace).main_source(event)
    through = SHAPING | {"eq", "ne", "bool", "logical_not", "invert"}
    return source is not None and any(
        e.short in ("tril", "triu") for e in graph(trace).back(source, lambda e: e.short in through)
    )


def _grows_to(trace: Trace, event: Event, size: Dim) -> Join | None:
    """The join whose grown axis has this size."""
    assert event.sizes is not None
    wanted = event.sizes.resolve(size)
    if wanted.const is not None:
        return None
    sizes = event.sizes
    return next((j for j in joins(trace) if any(sizes.resolve(a.dim) == wanted for a in grown(trace, j))), None)


_HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class CachedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=%s)%s
        return out.transpose(1, 2).reshape(B, T, C), (k, v)


torch.manual_seed(0)
model = CachedAttention(8, 2)
x = torch.randn(1, 4, 8)
first, cache = model(x[:, :3])
result, _ = model(x[:, 3:], cache)
"""

_TURNED = """\
import torch
import torch.nn as nn


def turn(x, first):
    T, d = x.shape[-2:]
    speed = 1.0 / 10000 ** (torch.arange(0, d, 2).float() / d)
    angle = torch.outer(torch.arange(first, first + T).float(), speed)
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class CachedAttention(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def forward(self, x, cache=None):
        batch_size, T, d_model = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
%s        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=1), torch.cat((cache[1], v), dim=1)
%s        scores = turn(q, first) @ turn(k, 0).transpose(1, 2) / q.size(-1) ** 0.5
        return scores.softmax(dim=-1) @ v, (k, v)


torch.manual_seed(0)
model = CachedAttention(8)
x = torch.randn(1, 4, 8)
_, cache = model(x[:, :3])
result, _ = model(x[:, 3:], cache)
"""
_FIRST = "        first = k.size(1) - T%s\n"

RULE = Rule(
    code="SD802",
    name="cache-offset",
    severity="error",
    summary="A step with a cache that masks as if its queries were the first tokens.",
    what="Looks at keys that were joined to a cache, and at the causal mask that goes with them: `is_causal=True`, "
    "rows cut from the beginning of a square mask, `tril` of a `(T, S)` mask without its diagonal. Looks at positions "
    "that are counted from 0 at every step, too: those that are looked up, and those that turn the queries.",
    why="Token by token, the one query is the last position. A causal mask aligned with the first key lets it see the "
    "first key alone, and a position counted from 0 puts it at the beginning, so that generating differs from the full "
    "pass, without any error.",
    instead="Mask only where queries and keys are as many, or cut the rows from the end: `mask[S - T:S, :S]`, "
    "`tril(diagonal=S - T)`. Count positions from the length of the cache.",
    source="PyTorch documentation, torch.nn.functional.scaled_dot_product_attention (is_causal).",
    bad=(Example(_HEAD % ("True", "  # <- SD802")), Example(_TURNED % (_FIRST % "  # <- SD802", ""))),
    good=(Example(_HEAD % ("q.size(2) == k.size(2)", "")), Example(_TURNED % ("", _FIRST % ""))),
    check=check,
    fix="Unsafe, since it changes results: aligns the mask with the last key, or starts at the length of the cache.",
    kind="silent",
)
