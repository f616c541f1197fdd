"""SD605 repeat-order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Kind
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Layer
from shapedoc.rules.contractions import contraction, names, tensor_operands
from shapedoc.rules.elementwise import ELEMENTWISE
from shapedoc.rules.flow import events_of, result_shape, shape_at
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.wording import call_labels, finding, label, shape_text, text_of

__all__ = ["RULE", "misordered"]

_REPEATS = names("repeat repeat_interleave tile")
_PRODUCTS = names("matmul bmm")
_VIEWS = names("view reshape unflatten")


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """Two joined axes that meet: `ours` was made by the copying op `made`."""

    event: Event
    ours: Operand
    theirs: Operand
    axis: Axis
    other: Axis
    made: Event


def check(trace: Trace) -> Iterator[Finding]:
    for pair, certain in _wrong(trace):
        yield _found(trace, pair, certain=certain)
    for event, mask, made in _of_heads(trace):
        yield _mask_of_heads(trace, event, mask, made)


def misordered(trace: Trace, axis: Axis) -> bool:
    """Whether an axis was copied into its size in the wrong order: a view that its order does not fit follows."""
    places = {pair.made.span for pair, _ in _wrong(trace)}
    copies = (event for event in events_of(trace, _REPEATS) if event.span in places) if places else ()
    return any(own.ids <= axis.ids for event in copies for own in _copied(event))


@lru_cache(maxsize=2)
def _wrong(trace: Trace) -> list[tuple[_Pair, bool]]:
    """The axes copied in another order than that of what they meet, and whether that is certain; one for each place."""
    found: list[tuple[_Pair, bool]] = []
    seen: set[Span] = set()
    groups: list[_Pair] = []
    for event in sorted(trace.events, key=lambda e: len(e.calls)):
        for pair in _pairs(trace, event):
            if pair.made.span in seen:
                continue
            rival = _copier(trace, event, pair.other)
            if rival is not None and _views_fit(trace, rival) < _views_fit(trace, pair.made):
                continue
            grouped = event.short in _PRODUCTS and (_is_grouped(pair) or any(_is_like(pair, g) for g in groups))
            if grouped:
                groups.append(pair)
            if grouped or _reversed(pair):
                seen.update(made.span for made in (pair.made, rival) if made is not None)
                found.append((pair, not grouped))
    return found


def _of_heads(trace: Trace) -> Iterator[tuple[Event, Operand, Event]]:
    """Masks of every head that `nn.MultiheadAttention` is given, and where they were copied: all batches, head by head.

    It takes (N * heads, L, S), in which the heads of one example stand together.
    """
    seen: set[Span] = set()
    for event in events_of(trace, names("MultiheadAttention.forward")):
        mask, layer = event.operand("attn_mask"), event.value("self")
        shape = shape_at(event, mask)
        heads = layer.config.get("num_heads") if isinstance(layer, Layer) else None
        if mask is None or shape is None or shape.rank != 3 or not isinstance(heads, Int) or event.sizes is None:
            continue
        outer, *inner = [event.sizes.resolve(f.dim) for f in _flat(shape.axes[0])]
        made = _copier(trace, event, shape.axes[0])
        if made is None or made.short == "repeat_interleave" or len(inner) != 1 or made.span in seen:
            continue
        if outer == event.sizes.resolve(heads.dim) != inner[0] and inner[0] != ONE and not made.span.path:
            seen.add(made.span)
            yield event, mask, made


def _mask_of_heads(trace: Trace, event: Event, mask: Operand, made: Event) -> Finding:
    assert event.sizes is not None
    copied = next(iter(tensor_operands(made)), None)
    text, attention = text_of(trace, copied), event.short.removesuffix(".forward")
    return finding(
        trace,
        made,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{made.short}` orders the copies of {text} head by head, where `{attention}` has the heads of one "
        "example together",
        tensor=text,
        actual=shape_text(event, mask.shape),
        labels=label(event.span, f"takes {text_of(trace, mask)} here") + call_labels(event),
        why="a mask of three axes is (N * heads, L, S): with more than one example, heads get the masks of others",
        help="repeat_interleave(heads, dim=0)",
    )


def _copied(event: Event) -> list[Axis]:
    """The axes of a result that hold copies."""
    shape = result_shape(event)
    return [axis for axis in shape.axes if len(axis.factors) > 1] if shape is not None else []


def _copier(trace: Trace, event: Event, axis: Axis) -> Event | None:
    """The copying op before an event that an axis has its size from."""
    if len(axis.factors) < 2:
        return None
    for made in reversed(events_of(trace, _REPEATS)):
        if made.index < event.index and any(own.ids <= axis.ids for own in _copied(made)):
            return made
    return None


def _views_fit(trace: Trace, made: Event) -> int:
    """How many views cut an axis that holds these copies as it was joined, less those that cut it otherwise."""
    count = 0
    for event in events_of(trace, _VIEWS):
        before, after = shape_at(event, event.operand("input")), result_shape(event)
        for axis in before.axes if before is not None else ():
            if after is not None and any(own.ids <= axis.ids for own in _copied(made)):
                parts = [factor.dim for factor in axis.factors]
                count += any([a.dim for a in after.axes[i : i + 2]] == parts for i in range(len(after.axes)))
                count -= any(problem.kind == "scrambled-view" for problem in event.problems)
    return count


def _pairs(trace: Trace, event: Event) -> Iterator[_Pair]:
    """The axes that meet in an event and of which one holds copies."""
    if event.short == "einsum":
        yield from _by_letter(trace, event)
        return
    skipped = 2 if event.short in _PRODUCTS else 0
    if not skipped and event.short not in ELEMENTWISE:
        return
    operands = [o for o in tensor_operands(event) if o.name not in ("value", "out")]
    for ours in operands:
        for theirs in operands:
            a, b = shape_at(event, ours), shape_at(event, theirs)
            if ours is theirs or a is None or b is None or b.rank is None:
                continue
            if a.rank is None:
                if event.short == "masked_fill" and ours.name == "mask" and a.prefix and b.rank == 3:
                    yield from _pair(trace, event, (ours, a.prefix[0]), (theirs, b.axes[0]))
                continue
            for back in range(-min(a.rank, b.rank), -skipped):
                yield from _pair(trace, event, (ours, a.axes[back]), (theirs, b.axes[back]))


def _by_letter(trace: Trace, event: Event) -> Iterator[_Pair]:
    """The axes of two operands that one letter of an einsum names, neither of them summed."""
    for ours in tensor_operands(event):
        product = contraction(event, ours)
        if product is not None:
            for axis, other in product.shared:
                yield from _pair(trace, event, (ours, axis), (product.theirs, other))


def _pair(trace: Trace, event: Event, ours: tuple[Operand, Axis], theirs: tuple[Operand, Axis]) -> Iterator[_Pair]:
    """The meeting of two axes, if the first was copied into its size."""
    (operand, axis), (beside, other) = ours, theirs
    if len(axis.factors) < 2 or other.dim == ONE or axis.same(other):
        return
    made = _copier(trace, event, axis)
    if made is not None and not made.span.path:
        yield _Pair(event, operand, beside, axis, other, made)


def _flat(axis: Axis) -> list[Axis]:
    return [f for factor in axis.factors for f in _flat(factor)] if len(axis.factors) > 1 else [axis]


def _reversed(pair: _Pair) -> bool:
    """Whether a size is the outer factor of one axis and the inner factor of the other."""
    ours, theirs = _flat(pair.axis), _flat(pair.other)
    if len(ours) != 2 or len(theirs) != 2 or pair.event.sizes is None:
        return False
    (a, b), (c, d) = ([pair.event.sizes.resolve(f.dim) for f in side] for side in (ours, theirs))
    crossed = (a == d and _counts(a)) or (b == c and _counts(b)) or ours[1].same(theirs[0]) or ours[0].same(theirs[1])
    straight = a == c or b == d or ours[0].same(theirs[0]) or ours[1].same(theirs[1])
    return crossed and not straight


def _counts(dim: Dim) -> bool:
    return bool(dim.syms) or (dim.const or 0) > 1


def _is_grouped(pair: _Pair) -> bool:
    """Whether keys and values of groups were repeated as a whole, so that neighbouring query heads share none."""
    sizes, factors = pair.event.sizes, _flat(pair.axis)
    if sizes is None or len(factors) != 2 or pair.made.short == "repeat_interleave" or len(pair.other.factors) > 1:
        return False
    if pair.axis.ids and pair.other.dim.const is not None and pair.other.dim.value is None:
        return False
    copies, groups = (sizes.resolve(f.dim) for f in factors)
    if not copies.named or not groups.named:
        return False
    shape = shape_at(pair.event, pair.ours)
    if shape is None or shape.rank != 4 or shape.axes[1] is not pair.axis:
        return False
    return sizes.compare(pair.axis.dim, pair.other.dim).kind is Kind.ALWAYS


def _is_like(pair: _Pair, other: _Pair) -> bool:
    """Whether values were repeated as the keys were."""
    if pair.made.short != other.made.short or pair.made.function != other.made.function:
        return False
    return [f.dim for f in _flat(pair.axis)] == [f.dim for f in _flat(other.axis)]


def _found(trace: Trace, pair: _Pair, *, certain: bool) -> Finding:
    event, sizes, made = pair.event, pair.event.sizes, pair.made
    assert sizes is not None
    copied = next(iter(tensor_operands(made)), None)
    text = text_of(trace, copied)
    order = [sizes.show(f.dim) for f in _flat(pair.axis)]
    theirs = [sizes.show(f.dim) for f in _flat(pair.other)]
    ours = " x ".join(f"`{o}`" for o in order)
    right = " x ".join(f"`{o}`" for o in (theirs if len(theirs) > 1 else order[::-1]))
    instead = "repeat" if made.short == "repeat_interleave" else "repeat_interleave"
    beside = text_of(trace, pair.theirs)
    return finding(
        trace,
        made,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error" if certain else "warning",
        message=f"`{made.short}` orders the copies of {text} as {ours}, where {beside} is ordered as {right}",
        tensor=text,
        actual=shape_text(made, made.shape),
        expected=f"the axis in the order {right}",
        labels=label(event.span, f"{text_of(trace, pair.ours)} meets {beside} here") + call_labels(made),
        why="the sizes agree and the order does not: element i of one belongs to another element than i of the other",
        help=_help(made, instead),
    )


def _help(made: Event, instead: str) -> str:
    if made.op.startswith("einops"):
        return "exchange the two names inside the parentheses of the pattern"
    kept = "whole copies" if instead == "repeat" else "the copies of one element"
    return f"use `{instead}`, which keeps {kept} together"


RULE = Rule(
    code="SD605",
    name="repeat-order",
    severity="error",
    summary="Copies are made in another order than that of the tensor they meet.",
    what="Remembers of which sizes an axis was joined or repeated, and in which order, and compares the two where such "
    "axes meet. Keys and values whose groups are repeated as a whole (`k.repeat(1, n_rep, 1, 1)`) for grouped queries "
    "are a warning.",
    why="`B*H` and `H*B` are one number and two orders. A mask repeated as `(H, B)` beside scores laid out as `(B, H)` "
    "masks sentences with each other's padding; nothing raises.",
    instead="`repeat_interleave` keeps the copies of one element together, `repeat` puts whole copies one after "
    "another.",
    source="PyTorch documentation, torch.Tensor.repeat, torch.repeat_interleave; Ainslie et al. 2023 (grouped "
    "queries).",
    bad=(
        Example(
            """\
import torch


def masked(x, mask, n_heads):
    batch_size, T, d_model = x.shape
    x = x.view(batch_size, T, n_heads, d_model // n_heads).transpose(1, 2)
    x = x.reshape(batch_size * n_heads, T, d_model // n_heads)
    scores = x @ x.transpose(1, 2)
    mask = mask.repeat(n_heads, 1)  # <- SD605
    return scores.masked_fill(mask.unsqueeze(1), -1e9)


torch.manual_seed(0)
mask = torch.tensor([[False, False, True], [False, True, True]])
result = masked(torch.randn(2, 3, 8), mask, 4)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def masked(x, mask, n_heads):
    batch_size, T, d_model = x.shape
    x = x.view(batch_size, T, n_heads, d_model // n_heads).transpose(1, 2)
    x = x.reshape(batch_size * n_heads, T, d_model // n_heads)
    scores = x @ x.transpose(1, 2)
    mask = mask.repeat_interleave(n_heads, dim=0)
    return scores.masked_fill(mask.unsqueeze(1), -1e9)


torch.manual_seed(0)
mask = torch.tensor([[False, False, True], [False, True, True]])
result = masked(torch.randn(2, 3, 8), mask, 4)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: writes `repeat_interleave` for `repeat`, or the other way round.",
    kind="silent",
)
