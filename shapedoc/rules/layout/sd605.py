"""SD605 repeat-order."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Int, Layer
from shapedoc.rules.layout.copies import Pair, copier, parts_of, wrong_copies
from shapedoc.rules.reading.blame import problems
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import events_of, shape_at
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import atom, made_before
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for pair, certain in wrong_copies(trace):
        yield _found(trace, pair, certain=certain)
    for event, mask, made in _of_heads(trace):
        yield _mask_of_heads(trace, event, mask, made)
    for event, problem in problems(trace, "misplaced-copies"):
        if not event.doubtful and not is_tainted(trace, event.operand("input")):
            yield _misplaced(trace, event, problem)


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
        outer, *inner = [event.sizes.resolve(f.dim) for f in parts_of(shape.axes[0])]
        made = copier(trace, event, shape.axes[0])
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


def _found(trace: Trace, pair: Pair, *, certain: bool) -> Finding:
    event, sizes, made = pair.event, pair.event.sizes, pair.made
    assert sizes is not None
    copied = next(iter(tensor_operands(made)), None)
    text = text_of(trace, copied)
    order = [sizes.show(f.dim) for f in parts_of(pair.axis)]
    theirs = [sizes.show(f.dim) for f in parts_of(pair.other)]
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


def _misplaced(trace: Trace, event: Event, problem: Problem) -> Finding:
    """Copies that were meant for an axis which the tensor has not."""
    operand = event.operand("input")
    text, actual = text_of(trace, operand), shape_text(event, operand.shape if operand is not None else None)
    counts, count = problem.detail.get("wanted", ""), problem.sizes[0] if problem.sizes else "?"
    copies = f"`{count}`" if "?" not in count else "the second"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"`repeat` has {counts} counts for {text} {actual}: {copies} falls on its first axis",
        tensor=text,
        actual=actual,
        labels=label(event.span, f"gives {shape_text(event, event.shape)}")
        + made_before(trace, event, operand)
        + call_labels(event),
        why="counts belong to the last axes: the 1 in front makes an axis, and all rows are copied one after the "
        "other, as if they were more rows",
        help=f"{atom(text)}.unsqueeze(1).repeat(...), so that the copies have an axis of their own",
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
