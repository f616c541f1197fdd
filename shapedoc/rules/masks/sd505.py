"""SD505 additive-boolean-mask."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.masks.weak import Weak, is_tiny, weak_masks
from shapedoc.rules.reading.flow import graph
from shapedoc.rules.reading.masks import Meaning, masks
from shapedoc.rules.reading.sinks import Sink, mask_sinks
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    known = masks(trace)
    seen: set[Span] = set()
    for sink in sorted(mask_sinks(trace), key=lambda s: len(s.event.calls)):
        meaning = known.of(sink.mask.value)
        if sink.event.span not in seen and _is_plain(trace, sink, meaning):
            seen.add(sink.event.span)
            yield _found(trace, sink, meaning)
    for weak in weak_masks(trace):
        boolean = isinstance(weak.mask.value, Tensor) and weak.mask.value.kind == "bool"
        if weak.event.span not in seen and (boolean or not weak.event.doubtful):
            seen.add(weak.event.span)
            yield _weak(trace, weak)


def _is_plain(trace: Trace, sink: Sink, meaning: Meaning | None) -> bool:
    """Whether a mask of truth values, or of ones and zeros, is added to scores."""
    value = sink.mask.value
    if not isinstance(value, Tensor) or (meaning is not None and meaning.additive):
        return False
    if _hides_nothing(trace, sink):
        return False
    if sink.how == "add":
        scores = sink.scores.value if sink.scores is not None else None
        return (value.kind == "bool" and isinstance(scores, Tensor) and scores.kind != "bool") or (
            meaning is not None and isinstance(scores, Tensor) and scores.kind in ("float", "")
        )
    return sink.how in ("module", "fused") and meaning is not None and value.kind == "float"


def _hides_nothing(trace: Trace, sink: Sink) -> bool:
    """Whether a mask is true everywhere: what is added is the same for every key, and changes no share."""
    made = graph(trace).producer(sink.mask.value)
    return made is not None and made.short in ("ones", "ones_like") and not made.in_place


def _found(trace: Trace, sink: Sink, meaning: Meaning | None) -> Finding:
    event, text = sink.event, text_of(trace, sink.mask)
    actual = shape_text(event, sink.mask.shape)
    name = "+" if sink.how == "add" else event.short.removesuffix(".forward")
    sign = meaning.sign if meaning is not None else "keep"
    scores = text_of(trace, sink.scores) if sink.scores is not None else "scores"
    boolean = isinstance(sink.mask.value, Tensor) and sink.mask.value.kind == "bool"
    turned = text if sign == "drop" else f"~{text}"
    if not boolean:
        turned = f"{text} == {1 if sign == 'drop' else 0}"
    help_ = f'{scores}.masked_fill({turned}, float("-inf"))'
    if sink.how != "add":
        help_ = (
            f"pass a boolean mask: `{text}.bool()`"
            if sign == ("keep" if sink.how == "fused" else "drop")
            else (f"pass a boolean mask: `{text} == 0`")
        )
    labels = label(meaning.made.span, "made of ones and zeros here") if meaning is not None else ()
    return finding(
        trace,
        event,
        sink.mask.span if sink.how != "add" else None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{name}` adds {text} to scores as it is: the ones and zeros of a mask hide nothing",
        tensor=text,
        actual=f"{actual}, 0 or 1".removeprefix(", "),
        expected="0 where something is to be seen, -inf where not",
        labels=labels + call_labels(event),
        why="a score that is larger by 1 is e times as likely: what is to be hidden still gets its share",
        help=help_,
    )


def _weak(trace: Trace, found: Weak) -> Finding:
    event, text = found.event, text_of(trace, found.mask)
    multiplied = found.fill is None
    low = found.fill is not None and is_tiny(found.fill)
    title = f"scores are multiplied with {text}: those that are to be hidden become 0"
    if not multiplied:
        title = f"{text} fills scores with {found.fill:g}"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error" if low else "warning",
        message=f"{title}, and the softmax gives them their share",
        tensor=text,
        actual=shape_text(event, found.mask.shape),
        labels=label(found.softmax.event.span, "normalised here") + call_labels(event),
        why="a score of 0 is one among others: exp(0) is 1, as much as for a key that fits neither well nor badly",
        help='fill with `float("-inf")`, or with -1e9' if not multiplied else "fill with -inf where the mask is 0",
    )


RULE = Rule(
    code="SD505",
    name="additive-boolean-mask",
    severity="error",
    summary="A mask of truth values, or of ones and zeros, is added to scores or multiplied with them, or fills them "
    "with 0.",
    what="Follows masks of truth values and of ones and zeros to a sum with scores that a softmax normalises, and to "
    "the float masks of `F.scaled_dot_product_attention` and `nn.MultiheadAttention`, which add them. Reports scores "
    "that are multiplied with such a mask, or filled with 0 or with a tiny number, where nothing else masks them.",
    why="What is added must be 0 where something is to be seen and hugely negative where not. Ones and zeros shift the "
    "scores by 1 and hide nothing.",
    instead="`scores.masked_fill(~keep, float('-inf'))`, or `scores + (1 - mask) * torch.finfo(scores.dtype).min`.",
    source="PyTorch documentation, torch.nn.functional.scaled_dot_product_attention (attn_mask: a float mask is "
    "added).",
    bad=(
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(scores, memory, tokens, pad):
    keep = tokens != pad
    weights = F.softmax(scores + keep, dim=-1)  # <- SD505
    return torch.bmm(weights.unsqueeze(1), memory)


torch.manual_seed(0)
tokens = torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]])
result = attend(torch.randn(2, 4), torch.randn(2, 4, 5), tokens, 0)
"""
        ),
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(query, key, value):
    T = query.size(-2)
    causal = torch.tril(torch.ones(T, T))
    return F.scaled_dot_product_attention(query, key, value, attn_mask=causal)  # <- SD505


torch.manual_seed(0)
x = torch.randn(2, 4, 5)
result = attend(x, x, x)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(scores, memory, tokens, pad):
    keep = tokens != pad
    weights = F.softmax(scores.masked_fill(~keep, float("-inf")), dim=-1)
    return torch.bmm(weights.unsqueeze(1), memory)


torch.manual_seed(0)
tokens = torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]])
result = attend(torch.randn(2, 4), torch.randn(2, 4, 5), tokens, 0)
"""
        ),
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(query, key, value):
    T = query.size(-2)
    causal = torch.tril(torch.ones(T, T))
    return F.scaled_dot_product_attention(query, key, value, attn_mask=causal.bool())


torch.manual_seed(0)
x = torch.randn(2, 4, 5)
result = attend(x, x, x)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: fills the scores where nothing is to be seen.",
    kind="silent",
)
