"""SD501 mask-polarity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.masks.compared import hidden_unless_zero
from shapedoc.rules.masks.emptied import Emptied, emptied
from shapedoc.rules.masks.pairs import Both, Opposed, Refilled, both_ways, full, inverted_numbers, opposed, refilled
from shapedoc.rules.masks.uses import Mistaken, mistaken
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import graph
from shapedoc.rules.reading.masks import Meaning, Sign, Triangle, masks
from shapedoc.rules.reading.sinks import Sink, mask_sinks
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_WORDS: dict[Sign, str] = {"keep": "is to be seen", "drop": "is to be hidden"}
_LIBRARY = ("module", "fused")


def check(trace: Trace) -> Iterator[Finding]:
    known = masks(trace)
    for sink in mask_sinks(trace):
        meaning = known.of(sink.mask.value)
        if meaning is None:
            yield from _full(trace, sink)
            yield from hidden_unless_zero(trace, sink, RULE.code, RULE.name)
        elif _is_inverted(sink, meaning):
            yield _found(trace, sink, meaning)
    for pair in refilled(trace):
        yield _emptied(trace, pair)
    for turns in opposed(trace):
        yield _by_turns(trace, turns)
    for turned, user in inverted_numbers(trace):
        yield _numbers(trace, turned, user)
    for both in both_ways(trace):
        yield _both(trace, both)
    told: list[Emptied | Mistaken] = [*emptied(trace), *mistaken(trace)]
    for e in told:
        text, actual = text_of(trace, e.mask), shape_text(e.event, e.mask.shape)
        mean = _told(
            trace, e.event, e.span, e.message, tensor=text, actual=actual, labels=e.labels, why=e.why, help=e.help
        )
        # The same line in training and in evaluation is one fault.
        yield replace(mean, causes=(f"{trace.source(e.event.span)} over {trace.source(e.span)}",))
    for event in trace.events:
        if event.short in ("and_", "logical_and", "bitwise_and"):
            yield from _contradiction(trace, event)


def _is_inverted(sink: Sink, meaning: Meaning) -> bool:
    """Whether what is to be seen is hidden. Of a triangle with the diagonal in it, another rule says what is wrong."""
    if sink.how == "add" and not meaning.additive:
        return False
    value = sink.mask.value
    if sink.how in _LIBRARY and isinstance(value, Tensor) and value.kind != "bool" and not meaning.additive:
        return False
    expects = "drop" if meaning.additive else sink.expects
    if meaning.sign == expects:
        return False
    return meaning.triangle is None or _kept(meaning.triangle, expects) == Triangle("upper", 1)


def _kept(region: Triangle, expects: Sign) -> Triangle:
    return region if expects == "keep" else region.complement()


def _told(
    trace: Trace,
    event: Event,
    span: Span | None,
    message: str,
    *,
    tensor: str,
    actual: str,
    expected: str = "",
    labels: tuple[Label, ...],
    why: str,
    help: str,
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
        actual=actual,
        expected=expected,
        labels=labels + call_labels(event),
        why=why,
        help=help,
    )


def _found(trace: Trace, sink: Sink, meaning: Meaning) -> Finding:
    event, text = sink.event, text_of(trace, sink.mask)
    taken = {"fill": "hides what is true", "where": "hides what is false", "add": "hides what is added to"}
    does = taken.get(sink.how, "keeps what is true" if sink.expects == "keep" else "hides what is true")
    if sink.how == "where" and sink.expects == "drop":
        does = "hides what is true"
    name = event.short.removesuffix(".forward")
    what = "the present and the past" if meaning.triangle is not None else "every real token"
    if meaning.sign == "drop":
        what = "the future" if meaning.triangle is not None else "the padding"
    return _told(
        trace,
        event,
        _place(trace, sink, meaning),
        f"{text} is true where something {_WORDS[meaning.sign]}, but `{name}` {does}",
        tensor=text,
        actual=f"{shape_text(event, sink.mask.shape)}, True means {meaning.sign}",
        expected=f"True means {'drop' if meaning.sign == 'keep' else 'keep'}",
        labels=label(meaning.made.span, f"true for {what}") + label(sink.mask.span or event.span, f"`{name}` {does}"),
        why="the softmax then reads what was to be hidden and nothing else; a row in which all is hidden becomes NaN",
        help=_help(sink, text, meaning),
    )


def _full(trace: Trace, sink: Sink) -> Iterator[Finding]:
    """A mask of ones that hides what is true: everything."""
    made = full(trace, sink.mask.value)
    kind = sink.mask.value.kind if isinstance(sink.mask.value, Tensor) else ""
    if made is None or not made[1] or sink.expects != "drop" or sink.how not in ("fill", "module"):
        return
    if sink.how == "module" and kind != "bool":
        return
    text = text_of(trace, sink.mask)
    name = sink.event.short.removesuffix(".forward")
    yield _told(
        trace,
        sink.event,
        sink.mask.span or sink.event.span,
        f"{text} is true of everything that is there, and `{name}` hides what is true",
        tensor=text,
        actual=f"{shape_text(sink.event, sink.mask.shape)}, True means keep",
        expected="True means drop",
        labels=label(made[0].span, "filled with ones here"),
        why="nothing real is left for the softmax to see",
        help=f"pass `~{text}`" if text.isidentifier() else "turn the mask round with `~`, or `== 0`",
    )


def _emptied(trace: Trace, pair: Refilled) -> Finding:
    text = text_of(trace, pair.mask)
    return _told(
        trace,
        pair.second,
        pair.mask.span or pair.second.span,
        f"what was hidden where {text} is shown again where {text}",
        tensor=pair.second.target or text,
        actual="0 everywhere that it was filled",
        expected="0 elsewhere",
        labels=label(pair.first.span, "filled with a hugely negative number here"),
        why="both fills are at the same places, and the last one wins: the mask hides nothing",
        help="turn the condition of one of them round",
    )


def _by_turns(trace: Trace, pair: Opposed) -> Finding:
    event, text = pair.wrong.event, text_of(trace, pair.wrong.mask)
    other = text_of(trace, pair.right.mask)
    name = event.short
    return _told(
        trace,
        event,
        pair.wrong.mask.span or event.span,
        f"`{name}` hides what is true in {text}, and `{pair.right.event.short}` keeps it",
        tensor=text,
        actual=f"{shape_text(event, pair.wrong.mask.shape)}",
        labels=label(pair.right.mask.span or pair.right.event.span, f"{other} is kept where it is true"),
        why="both branches get the same mask and are to give the same; torch keeps what is True in `attn_mask`",
        help=f"fill where it is not true: `~{text}`" if text.isidentifier() else "turn the mask round in one of them",
    )


def _both(trace: Trace, pair: Both) -> Finding:
    event, text = pair.after.event, text_of(trace, pair.after.mask)
    before = text_of(trace, pair.before.mask)
    return _told(
        trace,
        event,
        pair.after.mask.span or event.span,
        f"what is hidden before the softmax is what {text} keeps after it",
        tensor=text,
        actual=shape_text(event, pair.after.mask.shape),
        labels=label(pair.before.mask.span or pair.before.event.span, f"{before} hides here"),
        why="both come of one mask: its true elements are hidden from the softmax, and then only they are kept",
        help="turn the mask round in one of them",
    )


def _numbers(trace: Trace, turned: Event, user: Event) -> Finding:
    text = text_of(trace, turned.operands[0])
    return _told(
        trace,
        turned,
        None,
        f"{text} is made of whole numbers, and `~` of those is never 0",
        tensor=text,
        actual=shape_text(turned, turned.operands[0].shape),
        labels=label(user.span, "it masks here"),
        why="`~` turns the bits round: of bytes, 0 becomes 255 and 1 becomes 254, and both are true",
        help=f"make it `bool` first: `~{text}.bool()`, or compare: `{text} == 0`",
    )


def _place(trace: Trace, sink: Sink, meaning: Meaning) -> Span | None:
    """What a library module takes is agreed on where the mask is made; one's own fill is where it was not turned."""
    made = meaning.made.span
    if sink.how in _LIBRARY and not made.path:
        return made
    if _right_elsewhere(trace, sink):
        return made
    return sink.mask.span or sink.event.span


def _right_elsewhere(trace: Trace, sink: Sink) -> bool:
    """Whether another call brings a mask here that is right."""
    known = masks(trace)
    others = [s for s in mask_sinks(trace) if s.event.span == sink.event.span and s is not sink]
    found = [known.of(s.mask.value) for s in others]
    return any(m is not None and m.sign == sink.expects for m in found)


def _help(sink: Sink, text: str, meaning: Meaning) -> str:
    if sink.how == "add":
        return "put the hugely negative number where nothing is to be seen"
    turned = f"~{text}" if text.isidentifier() or text.startswith("self.") else f"~({text})"
    value = sink.mask.value
    if isinstance(value, Tensor) and value.kind != "bool":
        turned = f"{text} == 0"
    if sink.how == "where":
        return f"exchange the last two arguments, or pass `{turned}`"
    return f"pass `{turned}`, or make the mask the other way round"


def _contradiction(trace: Trace, event: Event) -> Iterator[Finding]:
    """A mask of what to keep and one of what to drop, joined by `&`."""
    known = masks(trace)
    operands = tensor_operands(event)
    if len(operands) != 2:
        return
    pair = [(o, m) for o in operands if (m := known.of(o.value)) is not None and not m.additive]
    if len(pair) != 2 or pair[0][1].sign == pair[1][1].sign:
        return
    keep, drop = sorted(pair, key=lambda p: p[1].sign, reverse=True)
    if drop[1].triangle is not None and drop[1].triangle != Triangle("upper", 1):
        return
    if not _is_interval(trace, keep[1], drop[1]):
        yield _joined(trace, event, keep, drop)


def _is_interval(trace: Trace, *edges: Meaning) -> bool:
    """Whether two masks bound one count of positions, or two counts by one bound.

    ``(start <= i) & (i < end)`` is an interval, ``(rows < n) & ~(columns < n)`` a block of a table.
    """
    counts = [{e.index for e in graph(trace).back(m.made, lambda _: True) if e.short == "arange"} for m in edges]
    ordered = all(m.made.short in ("lt", "le", "gt", "ge") for m in edges)
    bounds = [{v.uid for o in m.made.operands if isinstance(v := o.value, Tensor) and v.event < 0} for m in edges]
    return bool(counts[0] & counts[1] or (ordered and bounds[0] & bounds[1]))


def _joined(trace: Trace, event: Event, keep: tuple[Operand, Meaning], drop: tuple[Operand, Meaning]) -> Finding:
    one, other = text_of(trace, keep[0]), text_of(trace, drop[0])
    return _told(
        trace,
        event,
        None,
        f"{one} is true where something is to be seen, {other} where it is to be hidden, and both are joined",
        tensor=other,
        actual="True means drop",
        expected="True means keep",
        labels=label(keep[1].made.span, f"{one}: true means keep")
        + label(drop[1].made.span, f"{other}: true means drop"),
        why="what both allow is where both are true only if true means the same in both",
        help=f"turn one of them round: `{one} & ~{other}`",
    )


RULE = Rule(
    code="SD501",
    name="mask-polarity",
    severity="error",
    summary="A mask is true where something is to be seen, and what takes it hides what is true, or the reverse.",
    what="Reads from its construction what a mask's true elements stand for (`tokens != pad` and `arange < lengths` "
    "keep, `tokens == pad` and `triu(diagonal=1)` drop, `~`, `== 0` and `1 - mask` turn round) and compares that with "
    "what the mask is given to: `masked_fill` with -inf and the masks of `nn.MultiheadAttention` and `nn.Transformer` "
    "hide what is true, a boolean mask of `F.scaled_dot_product_attention` and `where(mask, scores, -inf)` keep it. "
    "Of a mask that is a parameter, what is said of it counts, and what else the function does with it. "
    "The name of a mask is never read.",
    why="The words are hidden and the padding is read. Nothing raises; a sequence without padding becomes NaN.",
    instead="Turn the mask round where it is used (`scores.masked_fill(~keep, float('-inf'))`), or where it is made.",
    source="PyTorch documentation, torch.nn.MultiheadAttention (key_padding_mask: True is ignored) and "
    "torch.nn.functional.scaled_dot_product_attention (attn_mask: True takes part).",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Reader(nn.Module):
    def __init__(self, vocab, dim, pad=0):
        super().__init__()
        self.pad = pad
        self.embed = nn.Embedding(vocab, dim)
        self.score = nn.Linear(dim, 1)

    def forward(self, tokens):
        words = self.embed(tokens)
        keep = tokens != self.pad
        scores = self.score(words).squeeze(-1)
        scores = scores.masked_fill(keep, float("-inf"))  # <- SD501
        return torch.bmm(F.softmax(scores, dim=1).unsqueeze(1), words).squeeze(1)


result = Reader(11, 6)(torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]]))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self, vocab, dim, heads):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, tokens):
        words = self.embed(tokens)
        padding = tokens != 0  # <- SD501
        read, _ = self.attention(words, words, words, key_padding_mask=padding)
        return read


result = Reader(11, 6, 2)(torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]]))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Reader(nn.Module):
    def __init__(self, vocab, dim, pad=0):
        super().__init__()
        self.pad = pad
        self.embed = nn.Embedding(vocab, dim)
        self.score = nn.Linear(dim, 1)

    def forward(self, tokens):
        words = self.embed(tokens)
        keep = tokens != self.pad
        scores = self.score(words).squeeze(-1)
        scores = scores.masked_fill(~keep, float("-inf"))
        return torch.bmm(F.softmax(scores, dim=1).unsqueeze(1), words).squeeze(1)


result = Reader(11, 6)(torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]]))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self, vocab, dim, heads):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, tokens):
        words = self.embed(tokens)
        padding = tokens == 0
        read, _ = self.attention(words, words, words, key_padding_mask=padding)
        return read


result = Reader(11, 6, 2)(torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]]))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: turns the mask round.",
    kind="silent",
)
