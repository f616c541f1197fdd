"""SD801 rotation-on-wrong-axis."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Trace
from shapedoc.rules.reading.elementwise import Meeting, meetings, shallowest
from shapedoc.rules.reading.flow import graph
from shapedoc.rules.reading.layouts import is_batch_name
from shapedoc.rules.reading.rotary import (
    Rotation,
    attended,
    laid_out,
    pairs_of_angles,
    pairs_of_vector,
    rotation_of,
    rotations,
)
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_WHY = (
    "every pair of features is turned by its angle times the position in the sequence, so that a score depends on the "
    "distance of two positions"
)


def check(trace: Trace) -> Iterator[Finding]:
    for meeting in shallowest(trace, "SD801"):
        rotation = rotation_of(trace, meeting.event)
        if rotation is not None and meeting.sameness is not None and severity_of(meeting.sameness) == "error":
            yield _met(trace, rotation, meeting)
    seen: set[Span] = set()
    for rotation in sorted(rotations(trace).values(), key=lambda r: len(r.event.calls)):
        for found in (*_along(trace, rotation), *_paired(trace, rotation)):
            if found.span not in seen:
                seen.add(found.span)
                yield found


def _told(
    trace: Trace,
    rotation: Rotation,
    span: Span | None,
    message: str,
    *,
    why: str,
    help: str,
    notes: tuple[str, ...] = (),
) -> Finding:
    """A finding about the angles, which stands where they got what is wrong with them."""
    event, vector = rotation.event, rotation.vector
    turned = f"{text_of(trace, vector)} {shape_text(event, vector.shape)} is turned here"
    return finding(
        trace,
        event,
        span if span is not None and not span.path else None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=message,
        tensor=text_of(trace, rotation.table),
        actual=shape_text(event, rotation.table.shape),
        labels=label(event.span, turned) + call_labels(event),
        why=why,
        notes=notes,
        help=help,
    )


def _met(trace: Trace, rotation: Rotation, meeting: Meeting) -> Finding:
    """Angles whose axes lie beside other axes of the vector, or which are of another width."""
    event = rotation.event
    text, other = text_of(trace, rotation.table), text_of(trace, rotation.vector)
    actual, beside = shape_text(event, rotation.table.shape), shape_text(event, rotation.vector.shape)
    ours, theirs = (meeting.axis, meeting.other) if meeting.low is rotation.table else (meeting.other, meeting.axis)
    assert event.sizes is not None
    one, two = event.sizes.show(ours.dim), event.sizes.show(theirs.dim)
    notes = (f"runs only if {meeting.sameness.when}",) if meeting.sameness and meeting.sameness.when else ()
    span = laid_out(graph(trace), rotation).span
    if meeting.back != -1:
        message = f"the angles {text} {actual} run along `{two}` of {other} {beside}, not along time"
        return _told(trace, rotation, span, message, why=_WHY, help=_axis_help(rotation, meeting, text), notes=notes)
    wave = rotation.wave
    return _told(
        trace,
        rotation,
        span if wave.span.path else wave.span,
        f"the {wave.short} of the angles is `{one}` wide, the vectors that it turns are `{two}` wide",
        why="two features that are turned together have one angle: the table has it for both of them",
        notes=notes,
        help="give both features of a pair their angle: `torch.cat((angles, angles), dim=-1)`",
    )


def _axis_help(rotation: Rotation, meeting: Meeting, text: str) -> str:
    if meeting.home is not None and meeting.home < meeting.back:
        return f"put an axis of size 1 where the heads are: `{text}.unsqueeze({meeting.back})`"
    return "bring the heads in front of time before turning: `q.transpose(1, 2)`"


def _along(trace: Trace, rotation: Rotation) -> Iterator[Finding]:
    """Positions that are counted along the heads or the batch."""
    event, axis, counted = rotation.event, rotation.turned, rotation.counted
    if axis is None or counted is None or axis.dim == ONE or event.sizes is None or meetings(trace, event):
        return
    time = attended(graph(trace), rotation)
    elsewhere = time is not None and time.dim != ONE and not axis.ids <= time.ids and axis.dim != time.dim
    if not elsewhere and (time is not None or not _is_no_time(event, axis)):
        return
    text, beside = text_of(trace, rotation.vector), shape_text(event, rotation.vector.shape)
    along = event.sizes.show(axis.dim)
    wanted = event.sizes.show(time.dim) if time is not None else "the length of the sequence"
    message = f"the positions are counted along `{along}` of {text} {beside}, not along time"
    help_ = f"count up to `{wanted}`" if time is not None else f"count up to {wanted}"
    yield _told(trace, rotation, counted.span, message, why=_WHY, help=help_)


def _is_no_time(event: Event, axis: Axis) -> bool:
    """Whether the author calls an axis the heads or the batch."""
    assert event.sizes is not None
    sym = event.sizes.resolve(axis.dim).sym
    name = sym.name.lower() if sym is not None else ""
    heads = name.removeprefix("n_").removeprefix("num_") in ("heads", "head", "nheads", "nhead", "attention_heads")
    return heads or is_batch_name(event.sizes, axis)


def _paired(trace: Trace, rotation: Rotation) -> Iterator[Finding]:
    """Angles repeated for neighbours, and features turned with those half the width apart, or the reverse."""
    g = graph(trace)
    theirs = pairs_of_vector(g, rotation)
    ours, made = pairs_of_angles(g, rotation) if theirs else ("", None)
    if made is None or not ours or ours == theirs:
        return
    words = {"neighbours": "neighbouring features", "halves": "features half the width apart"}
    written = "torch.cat((angles, angles), dim=-1)" if theirs == "halves" else "angles.repeat_interleave(2, dim=-1)"
    yield _told(
        trace,
        rotation,
        made.span,
        f"{words[ours]} get one angle, but {words[theirs]} are turned together",
        why="a rotation turns two features by one angle; with two different ones it is none, and lengths change",
        help=f"repeat the angles as the features are paired: `{written}`",
    )


RULE = Rule(
    code="SD801",
    name="rotation-on-wrong-axis",
    severity="error",
    summary="A rotary embedding turns along another axis than time, or with angles of another width or order.",
    what="Follows the cosine and sine of positions times frequencies to the two products that turn a query or a key. "
    "Reports angles that run along the heads or the batch, angles for half of the features, and angles that are "
    "repeated in another order than the features are paired in.",
    why="With `(T, d_head)` angles on `(B, T, H, d_head)` vectors the heads are turned and not the positions: where "
    "`T == H` it runs, and every score is blind to the order of words.",
    instead="Turn vectors laid out as `(B, H, T, d_head)`, or give the angles an axis of heads: `cos[:, None]`.",
    source="Su et al. 2021, RoFormer, equations 13 and 34.",
    bad=(
        Example(
            """\
import torch


def turn(x, theta=10000.0):
    batch_size, T, n_heads, d_head = x.shape
    rate = theta ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(n_heads)[:, None] * rate  # <- SD801
    cos, sin = angle.cos(), angle.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


torch.manual_seed(0)
result = turn(torch.randn(2, 4, 4, 6))
"""
        ),
        Example(
            """\
import torch


def turn(x, theta=10000.0):
    batch_size, n_heads, T, d_head = x.shape
    rate = theta ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(T)[:, None] * rate
    angle = angle.repeat_interleave(2, dim=-1)  # <- SD801
    one, two = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat((-two, one), dim=-1) * angle.sin()


torch.manual_seed(0)
result = turn(torch.randn(2, 3, 5, 6))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def turn(x, theta=10000.0):
    batch_size, T, n_heads, d_head = x.shape
    rate = theta ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(T)[:, None, None] * rate
    cos, sin = angle.cos(), angle.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


torch.manual_seed(0)
result = turn(torch.randn(2, 4, 4, 6))
"""
        ),
        Example(
            """\
import torch


def turn(x, theta=10000.0):
    batch_size, n_heads, T, d_head = x.shape
    rate = theta ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(T)[:, None] * rate
    angle = torch.cat((angle, angle), dim=-1)
    one, two = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat((-two, one), dim=-1) * angle.sin()


torch.manual_seed(0)
result = turn(torch.randn(2, 3, 5, 6))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: puts an axis of size 1 where the heads are, or gives both "
        "features of a pair their angle."
    ),
    kind="both",
)
