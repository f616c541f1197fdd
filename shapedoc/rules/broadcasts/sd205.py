"""SD205 mask-on-wrong-axis."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.rules.broadcasts.inserted import one_inserted
from shapedoc.rules.broadcasts.outer import Outer, outers
from shapedoc.rules.broadcasts.row_masks import RowMask, row_masks
from shapedoc.rules.reading.contractions import names
from shapedoc.rules.reading.elementwise import Meeting, is_mask, shallowest
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, graph, shape_at
from shapedoc.rules.reading.masks import masks
from shapedoc.rules.reading.sinks import Sink, mask_sinks
from shapedoc.rules.reading.sized import atom
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.weights import is_right, uses, wrong_use
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

# What a mask goes through between the place where its axes are laid out and the place where it is used.
_PASSES = names("invert logical_not eq ne sub mul bool float to half type type_as int long masked_fill byte")
_FILLS = ("fill", "where", "add")


def check(trace: Trace) -> Iterator[Finding]:
    for meeting in shallowest(trace, "SD205"):
        if severity_of(meeting.sameness) == "error":
            yield _misaligned(trace, meeting)
    seen = set()
    for sink in mask_sinks(trace):
        if sink.how in _FILLS and sink.event.span not in seen and not sink.event.doubtful:
            for found in (*_constant(trace, sink), *_doubled(trace, sink)):
                seen.add(sink.event.span)
                yield found
    for rows in row_masks(trace):
        if rows.event.span not in seen and not rows.event.span.path and not rows.event.doubtful:
            seen.add(rows.event.span)
            yield _of_rows(trace, rows)


def _of_rows(trace: Trace, found: RowMask) -> Finding:
    event, mask = found.event, found.padding
    text, actual = text_of(trace, mask), shape_text(event, mask.shape)
    made = graph(trace).producer(mask.value)
    while made is not None and made.span.path:
        made = None
    other = text_of(trace, found.causal)
    return finding(
        trace,
        event,
        made.span if made is not None else mask.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{_mask(text)} {actual} lies along the rows of the causal mask {other}: it hides queries, and no key",
        tensor=text,
        actual=actual,
        labels=label(event.span, f"joined here with {other} {shape_text(event, found.causal.shape)}")
        + call_labels(event),
        why="rows are queries: those of padding lose all their keys, and every other query sees all keys of padding "
        "that the causal mask does not hide",
        help="put its axis of size 1 where the rows are: `unsqueeze(-2)` for `unsqueeze(-1)`",
    )


def _laid_out(trace: Trace, operand: Operand, user: Event) -> Event | None:
    """The event that gave a mask its axes, where that is in another function than its use.

    Where that is in another file, the event of this one that laid the mask out before it was handed there.
    """
    g = graph(trace)
    made, elsewhere = g.producer(operand.value), False
    while made is not None and (made.short in _PASSES or (made.span.path and made.short in SHAPING)):
        source = g.main_source(made)
        if source is None:
            break
        elsewhere = elsewhere or bool(made.span.path)
        made = source
        if elsewhere and made.short in SHAPING and not made.span.path:
            break
    if made is None or made.span.path or made.short == "phi" or (elsewhere and made.short not in SHAPING):
        return None
    return made if [c.id for c in made.calls] != [c.id for c in user.calls] else None


def _misaligned(trace: Trace, meeting: Meeting) -> Finding:
    event = meeting.event
    mask, scores = (meeting.low, meeting.high) if is_mask(meeting.low) else (meeting.high, meeting.low)
    text, other = text_of(trace, mask), text_of(trace, scores)
    actual, beside = shape_text(event, mask.shape), shape_text(event, scores.shape)
    ours, theirs = meeting.axis, meeting.other
    made = _laid_out(trace, mask, event)
    sizes = event.sizes
    one, two = (sizes.show(ours.dim), sizes.show(theirs.dim)) if sizes is not None else ("", "")
    title = f"{_mask(text)} {actual} lines its `{one}` up with `{two}` of {other} {beside}"
    if one == two:
        title = f"{_mask(text)} {actual} lines its axes up with other ones of {other} {beside}"
    help_, expected = one_inserted(trace, meeting) if mask is meeting.low else (f"lay {text} out as {other} is", "")
    return finding(
        trace,
        event,
        made.span if made is not None else mask.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=title,
        tensor=text,
        actual=actual,
        expected=expected,
        labels=label(event.span, f"{other} is {beside}") + label(mask.span, f"{text} is {actual}") + call_labels(event),
        why="axes meet from the right: the mask of one example is applied to another axis of all of them",
        notes=(f"runs only if {meeting.sameness.when}",) if meeting.sameness and meeting.sameness.when else (),
        help=help_,
    )


def _mask(text: str) -> str:
    """What to call a mask."""
    return text if "mask" in text.lower() else f"the mask {text}"


def _normalised(trace: Trace, sink: Sink) -> list[Softmax]:
    """The softmaxes that normalise what was masked: one, or one for each branch."""
    g = graph(trace)
    reached = {e.index for e in g.forward(sink.event, lambda e: e.short in KEEPS or e.short == "exp")}
    return [s for s in softmaxes(trace) if s.event.index in reached and s.axis is not None]


def _hides_keys(sink: Sink, softmax: Softmax, shape: Shape) -> bool:
    """Whether a mask varies along the axis that a softmax normalises."""
    place = None if softmax.axis is None else _place(sink.event.shape, softmax.axis)
    return place is not None and (-place > len(shape.suffix) or shape.suffix[place].dim != ONE)


def _hides_elsewhere(trace: Trace, sink: Sink, places: set[Span]) -> bool:
    """Whether what was masked goes into a softmax at another place, along whose axis the mask varies."""
    shape = shape_at(sink.event, sink.mask)
    softmaxes_ = [s for s in _normalised(trace, sink) if s.event.span not in places]
    return shape is not None and any(_hides_keys(sink, softmax, shape) for softmax in softmaxes_)


def _constant(trace: Trace, sink: Sink) -> Iterator[Finding]:
    """A padding mask that does not vary along the axis that the softmax normalises hides no key."""
    meaning = masks(trace).of(sink.mask.value)
    found = _normalised(trace, sink)
    softmax = found[0] if found else None
    shape = shape_at(sink.event, sink.mask)
    if shape is not None and any(_hides_keys(sink, other, shape) for other in found[1:]):
        return  # another branch normalises along it
    places = {other.event.span for other in found}
    if any(
        _hides_elsewhere(trace, other, places) for other in mask_sinks(trace) if other.event.span == sink.event.span
    ):
        return  # another walk takes a branch that does
    if softmax is None or softmax.axis is None or shape is None or _is_wrong_itself(trace, softmax):
        return
    if meaning is not None and meaning.kind != "padding":
        return
    if sink.how == "add" and (meaning is None or not meaning.additive):
        return
    # Where it stands among the scores that are masked: it may be another place once the softmax is called.
    place = _place(sink.event.shape, softmax.axis)
    if place is None or -place > len(shape.suffix) or shape.suffix[place].dim != ONE:
        return
    # The axes that it does vary along: the batch, and besides it the queries.
    along = sum(1 for i in shape.items if not isinstance(i, Axis) or i.dim != ONE)
    sure = meaning is not None and shape.run is not None
    if (along < 2 or softmax.shape is None or len(softmax.shape.items) < 3) and not sure:
        return
    if _is_sole(trace, sink, softmax, place):
        yield _useless(trace, sink, softmax, place, meaning is not None)


def _is_wrong_itself(trace: Trace, softmax: Softmax) -> bool:
    """Whether it is the softmax that runs over another axis than the keys: one of size 1, or one that is not summed."""
    axis = softmax.axis
    if axis is None or axis.dim == ONE:
        return True
    found = list(uses(graph(trace), softmax))
    return not any(is_right(use, axis) for use in found) and any(wrong_use(softmax, use) for use in found)


def _place(shape: Shape | None, axis: Axis) -> int | None:
    """Where an axis stands, from the right."""
    if shape is None:
        return None
    found = [i - len(shape.suffix) for i, a in enumerate(shape.suffix) if a.ids <= axis.ids]
    return found[-1] if found else None


def _is_sole(trace: Trace, sink: Sink, softmax: Softmax, place: int) -> bool:
    """Whether no other mask of padding varies along the normalised axis."""
    g: Graph = graph(trace)
    made = g.producer(softmax.scores.value)
    if made is None:
        return True
    chain = {e.index for e in g.back(made, lambda e: e.short in KEEPS)}
    for other in mask_sinks(trace):
        if other is sink or other.event.index not in chain or other.event is sink.event:
            continue
        meaning, shape = masks(trace).of(other.mask.value), shape_at(other.event, other.mask)
        if other.how not in _FILLS or (other.how == "add" and meaning is None):
            continue
        if meaning is not None and meaning.kind == "causal":
            continue
        if shape is None or shape.rank is None or (-place <= len(shape.axes) and shape.axes[place].dim != ONE):
            return False
    return True


def _useless(trace: Trace, sink: Sink, softmax: Softmax, place: int, sure: bool) -> Finding:
    event, text = sink.event, text_of(trace, sink.mask)
    actual = shape_text(event, sink.mask.shape)
    scores = shape_text(event, softmax.scores.shape)
    made = _laid_out(trace, sink.mask, event)
    assert softmax.axis is not None
    assert event.sizes is not None
    size = event.sizes.show(softmax.axis.dim)
    return finding(
        trace,
        event,
        made.span if made is not None else sink.mask.span,
        code=RULE.code,
        name=RULE.name,
        severity="error" if sure else "warning",
        message=f"{_mask(text)} {actual} is the same for every key: it does not vary along "
        f"{'the axis' if size == '?' else f'`{size}`'} that the softmax normalises",
        tensor=text,
        actual=actual,
        expected=_turned(event, sink.mask),
        labels=label(sink.mask.span, f"{text} masks {scores}")
        + label(softmax.event.span, f"normalised over axis {place} here")
        + call_labels(event),
        why="a mask hides keys; one that hides all of a query's keys or none leaves the weights as they are, or NaN",
        help="put the axis of size 1 where the queries are, and the mask's own along the keys",
    )


def _turned(event: Event, mask: Operand) -> str:
    shape = shape_at(event, mask)
    if shape is None or event.sizes is None or shape.rank is None:
        return ""
    parts = [event.sizes.show(a.dim) for a in shape.axes]
    parts[-1], parts[-2] = parts[-2], parts[-1]
    return f"({', '.join(parts)})"


def _doubled(trace: Trace, sink: Sink) -> Iterator[Finding]:
    """A mask (B, T) on scores (B, 1, T), or the reverse: the batch meets itself twice."""
    for outer in outers(sink.event):
        if sink.mask in (outer.low, outer.high) and outer.back <= -2:
            yield _twice(trace, sink, outer)
            return


def _twice(trace: Trace, sink: Sink, outer: Outer) -> Finding:
    event, text = sink.event, text_of(trace, sink.mask)
    deeper = outer.high is sink.mask
    scores = outer.low if deeper else outer.high
    actual, beside = shape_text(event, sink.mask.shape), shape_text(event, scores.shape)
    assert event.sizes is not None
    size = event.sizes.show(outer.axis.dim)
    return finding(
        trace,
        event,
        sink.mask.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"{_mask(text)} {actual} meets {text_of(trace, scores)} {beside}: `{size}` meets itself twice",
        tensor=text,
        actual=actual,
        expected=beside,
        labels=label(event.span, f"gives {shape_text(event, event.shape)}") + call_labels(event),
        why="axes meet from the right: every example is masked with the masks of all others",
        help=f"{atom(text)}.squeeze({outer.back})" if deeper else f"{atom(text)}.unsqueeze(1)",
    )


RULE = Rule(
    code="SD205",
    name="mask-on-wrong-axis",
    severity="error",
    summary="A mask varies along another axis than the keys, or lines up with the wrong axes of the scores.",
    what="Compares the axes of a mask with those of the scores that it is filled into or added to, and with the axis "
    "that the softmax then normalises.",
    why="A padding mask says which keys exist, so it must vary along the axis that the softmax normalises. Placed "
    "along "
    "the queries it hides nothing, or whole rows, which become NaN. `(B, T)` against `(B, H, T, T)` masks by batch "
    "index, and runs when B == T.",
    instead="`mask[:, None, None, :]` for scores `(B, H, T_dec, T_enc)`, `mask.unsqueeze(1)` for `(B, T_dec, T_enc)`.",
    source="Vaswani et al. 2017, section 3.2.3; PyTorch documentation, Broadcasting semantics.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)

    def forward(self, tokens):
        x = self.embed(tokens)
        batch_size, T, dim = x.shape
        scores = x @ x.transpose(1, 2) / dim**0.5
        padding = tokens == 0
        scores = scores.masked_fill(padding.unsqueeze(2), -1e9)  # <- SD205
        return F.softmax(scores, dim=-1) @ x


torch.manual_seed(0)
result = SelfAttention(11, 6)(torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]]))
"""
        ),
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(query, memory, lengths):
    batch_size, T_enc, d_h = memory.shape
    keep = torch.arange(T_enc)[None, :] < lengths[:, None]
    scores = torch.bmm(query.unsqueeze(1), memory.transpose(1, 2))
    scores = scores.masked_fill(~keep, float("-inf"))  # <- SD205
    return torch.bmm(F.softmax(scores, dim=-1), memory)


torch.manual_seed(0)
result = attend(torch.randn(2, 5), torch.randn(2, 4, 5), torch.tensor([3, 2]))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)

    def forward(self, tokens):
        x = self.embed(tokens)
        batch_size, T, dim = x.shape
        scores = x @ x.transpose(1, 2) / dim**0.5
        padding = tokens == 0
        scores = scores.masked_fill(padding.unsqueeze(1), -1e9)
        return F.softmax(scores, dim=-1) @ x


torch.manual_seed(0)
result = SelfAttention(11, 6)(torch.tensor([[3, 4, 0, 0], [5, 6, 7, 0]]))
"""
        ),
        Example(
            """\
import torch
import torch.nn.functional as F


def attend(query, memory, lengths):
    batch_size, T_enc, d_h = memory.shape
    keep = torch.arange(T_enc)[None, :] < lengths[:, None]
    scores = torch.bmm(query.unsqueeze(1), memory.transpose(1, 2))
    scores = scores.masked_fill(~keep.unsqueeze(1), float("-inf"))
    return torch.bmm(F.softmax(scores, dim=-1), memory)


torch.manual_seed(0)
result = attend(torch.randn(2, 5), torch.randn(2, 4, 5), torch.tensor([3, 2]))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: puts the mask's axes of size 1 where the heads and queries are.",
    kind="silent",
)
