"""SD701 stated-shape-disagrees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.sizes import Kind
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand, Stated, Trace
from shapedoc.core.value import Int, Tensor
from shapedoc.rules.reading.blame import operand_of, problems
from shapedoc.rules.reading.contractions import tensor_operands
from shapedoc.rules.reading.flow import graph, result_shape, shape_at, tensors_in
from shapedoc.rules.reading.said_squeezed import says_what_is_left
from shapedoc.rules.reading.squeezed import squeezes_batch
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.stated.said_summed import says_what_was_summed

__all__ = ["RULE"]

_FORMS = {
    "comment": "a comment",
    "explicit": "a comment",
    "docstring": "the docstring",
    "jaxtyping": "an annotation",
    "annotation": "an annotation",
    "assert": "an assert",
    "suffix": "its name",
}
# Forms that a program reads, and whose names therefore stand for one size each.
# What has so many axes and no others.
_USES = frozenset(
    (
        *("bmm", "baddbmm", "mm", "mv", "gather", "cat", "stack", "permute", "einsum", "transpose"),
        *("expand", "softmax", "log_softmax", "size", "setitem"),
    )
)
_BATCH = re.compile(r"b|bs|bsz|\w*batch(?:_?size)?", re.IGNORECASE)
_STRICT = frozenset(("explicit", "jaxtyping", "annotation", "assert"))


def check(trace: Trace) -> Iterator[Finding]:
    seen: set[tuple[Span, str]] = set()
    drifts: list[Drift] = []
    for stated in trace.stated:
        severity: Severity | None = severity_of(stated.verdict, "warning")
        if severity is None or (stated.span, stated.name) in seen:
            continue
        if _follows(trace, stated) or _is_of_the_line_above(trace, stated) or _is_of_what_follows(trace, stated):
            continue
        if 0 <= stated.event < len(trace.events) and says_what_is_left(trace, trace.events[stated.event]):
            continue
        seen.add((stated.span, stated.name))
        certain = stated.rank_differs or stated.permuted or stated.form in _STRICT or _is_a_part(stated)
        certain = certain or says_what_was_summed(trace, stated)
        loose = (stated.loose and not _of_other_results(trace, stated)) or _leaves_out_the_batch(stated)
        if certain and not loose and not _only_as_called(trace, stated):
            _gather(trace, stated, severity, drifts)
        else:
            yield _found(trace, Drift(stated, "note"))
    for drift in drifts:
        yield _found(trace, drift)
    yield from _misused(trace, {span for span, _ in seen})


def _of_other_results(trace: Trace, stated: Stated) -> bool:
    """Whether what a docstring says of the result is as wrong of what is returned in another place."""
    same = [s for s in trace.stated if (s.span, s.name) == (stated.span, stated.name) and s.rank_differs]
    made = {trace.events[s.event].span for s in same if 0 <= s.event < len(trace.events)}
    return stated.form == "docstring" and stated.name == "the returned value" and len(made) > 1


def _is_a_part(stated: Stated) -> bool:
    """Whether one size is half of the stated one, or another part of it, by the author's own name for it."""
    said, have = stated.said, stated.had
    others = [(a, b) for a, b in zip(said, have, strict=False) if a != b]
    if len(said) != len(have) or len(others) != 1 or stated.verdict.kind is not Kind.NEVER:
        return False
    ((whole, part),) = others
    return whole.isidentifier() and re.fullmatch(rf"{whole}//\d+", part) is not None


def _leaves_out_the_batch(stated: Stated) -> bool:
    """Whether a comment says what one example has, ``(T_dec, T_enc)``, of a tensor with a batch in front of that."""
    said, have = stated.said, stated.had
    if stated.form != "comment" or len(have) != len(said) + 1 or any(map(_BATCH.fullmatch, said)):
        return False
    return (have[0] == "?" or _BATCH.fullmatch(have[0]) is not None) and all(
        a == b or b == "?" for a, b in zip(said, have[1:], strict=True)
    )


@dataclass(slots=True)
class Drift:
    """A statement that disagrees, and those that do for the same reason: it is reported once."""

    stated: Stated
    severity: Severity
    others: list[Stated] = field(default_factory=list)


def _gather(trace: Trace, stated: Stated, severity: Severity, drifts: list[Drift]) -> None:
    """Add a statement to the drifts: to one that says the same elsewhere, or that its value is made of."""
    same = next((d for d in drifts if _key(d.stated) == _key(stated)), None)
    same = same or next((d for d in drifts if _leads_to(trace, d, stated) or _listed_with(d, stated)), None)
    if same is None or same.severity != severity:
        drifts.append(Drift(stated, severity))
    else:
        same.others.append(stated)


def _key(stated: Stated) -> tuple[str, str, str, str]:
    return stated.form, stated.name, stated.text, stated.inferred


def _listed_with(drift: Drift, stated: Stated) -> bool:
    """Whether a docstring says the same of another parameter, and is as wrong about it: queries, keys and values."""
    first = drift.stated
    return (
        stated.form == first.form == "docstring"
        and stated.function == first.function != ""
        and len(stated.said) == len(first.said)
        and len(stated.had) == len(first.had)
    )


def _leads_to(trace: Trace, drift: Drift, stated: Stated) -> bool:
    """Whether a value was made, in the same function, of one whose shape is stated wrongly as well."""
    if not 0 <= stated.event < len(trace.events) or not stated.function:
        return False
    g = graph(trace)
    origins = {d.event for d in (drift.stated, *drift.others) if d.function == stated.function and d.event >= 0}
    inside = stated.function
    behind = g.back(trace.events[stated.event], lambda e: e.function == inside) if origins else ()
    return any(e.index in origins and trace.events[e.index].function == inside for e in behind)


def _only_as_called(trace: Trace, stated: Stated) -> bool:
    """Whether a function's statement fails for what driver code gives it, and holds for the function by itself."""
    if not stated.driver or not stated.function or stated.form in _STRICT:
        return False
    return not any(s.span == stated.span and s.name == stated.name and not s.driver for s in trace.stated)


def _misused(trace: Trace, seen: set[Span]) -> Iterator[Finding]:
    """A product that takes other numbers of axes than those that are stated of its operands."""
    documented = [s for s in trace.stated if s.form == "docstring" and s.rank_differs and s.function]
    wrong = {s.function for s in documented if s.verdict.kind is Kind.NEVER}
    for event, problem in problems(trace, "stated-rank"):
        if event.short not in _USES or event.span in seen or event.span.path or event.function in wrong:
            continue  # where a caller gives something else than is stated, that is told of already
        seen.add(event.span)
        names = problem.operands[1:] if event.short == "setitem" else problem.operands
        operands = [o for name in names if (o := operand_of(trace, event, name)) is not None]
        shapes = [shape_text(event, o.shape) for o in operands]
        if not operands or any("(*" in s or " *" in s or "..." in s for s in shapes):
            continue
        if any(_of_an_element(trace, o) for o in operands):
            continue  # what is stated may be said of each of a list
        if any(_may_lose_an_axis(trace, o) for o in tensor_operands(event)):
            continue
        text = text_of(trace, operands[0])
        wanted, got = problem.detail.get("wanted", ""), problem.detail.get("got", "")
        yield finding(
            trace,
            event,
            operands[0].span,
            code=RULE.code,
            name=RULE.name,
            severity="warning",
            message=f"{_taker(event)} needs {text} with {wanted} axes, by what is stated it has {got}: {shapes[0]}",
            tensor=text,
            actual=shapes[0],
            labels=tuple(
                lb for o, s in zip(operands, shapes, strict=True) for lb in label(o.span, f"{text_of(trace, o)} is {s}")
            )
            + call_labels(event),
            why="a stated shape is what the next reader builds on; one of the two is wrong",
            help="mend the code, or what is stated of its tensors",
        )


def _taker(event: Event) -> str:
    return "what it is put into" if event.short == "setitem" else f"`{event.short}`"


def _may_lose_an_axis(trace: Trace, operand: Operand) -> bool:
    """Whether an axis was to be squeezed out that has another size than 1, as far as can be told: it may be 1."""
    made = graph(trace).producer(operand.value)
    given = shape_at(made, made.operands[0]) if made is not None and made.short == "squeeze" and made.operands else None
    kept = result_shape(made) if made is not None else None
    return given is not None and kept is not None and given.rank == kept.rank


def _of_an_element(trace: Trace, operand: Operand) -> bool:
    """Whether an operand was made of one element of an argument: ``feats[i]``."""
    g = graph(trace)
    made = g.producer(operand.value)
    for event in g.back(made, lambda e: e.function == made.function) if made is not None else ():
        given = event.value("input") if event.short == "getitem" else None
        if isinstance(given, Tensor) and given.event < 0 and isinstance(event.value("index"), Int):
            return True
    return False


def _follows(trace: Trace, stated: Stated) -> bool:
    """Whether something failed before in the same function: what comes after it follows from that."""
    made = _made(trace, stated)
    if made is None:
        return False
    return any(
        p.loud and severity_of(p.sameness) == "error"
        for e in trace.events
        if e.problems and e.function == made.function and e.span.line <= stated.span.line
        for p in e.problems
    )


def _is_of_the_line_above(trace: Trace, stated: Stated) -> bool:
    """Whether a comment names a variable of before and has the axes of another, which the line above it makes."""
    made = _made(trace, stated)
    if made is None or stated.form != "comment" or not stated.rank_differs or made.function != stated.function:
        return False
    inside = (e for e in trace.events if e.function == made.function and not e.span.path and e.sizes is not None)
    above = [e for e in inside if made.span.end_line < e.span.line < stated.span.line and e.target]
    last = max(above, key=lambda e: (e.span.line, e.index), default=None)
    if last is None or last.target == stated.name or last.shape is None or last.sizes is None:
        return False
    return last.sizes.shape(last.shape).rank == len(stated.said)


def _is_of_what_follows(trace: Trace, stated: Stated) -> bool:
    """Whether a comment has the axes that a variable is viewed with next, under the same name."""
    if stated.form != "comment" or not stated.rank_differs or not 0 <= stated.event < len(trace.events):
        return False
    return any(
        user.short in ("view", "reshape")
        and user.target == stated.name != ""
        and (shape := result_shape(user)) is not None
        and shape.rank == len(stated.said)
        for user in graph(trace).users[stated.event]
    )


def _found(trace: Trace, drift: Drift) -> Finding:
    stated = drift.stated
    form = _FORMS.get(stated.form, "a comment")
    name = stated.name or "the value"
    what = "another number of axes" if stated.rank_differs else "other sizes"
    made = _made(trace, stated)
    when = stated.verdict.when
    says = f", it has {what}: {stated.inferred}"
    if stated.first:
        says = f", `{stated.first}`, which hands it on, that it is {stated.inferred}"
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=drift.severity,
        path=stated.span.path or trace.path,
        span=stated.span,
        message=f"{form} says that `{name}` is {stated.text}{says}",
        function=made.function if made is not None else "",
        tensor=name,
        actual="" if stated.first else stated.inferred,
        expected="" if stated.first else stated.text,
        labels=(label(made.span, f"{name} is {stated.inferred}") if made is not None else ())
        + _left(trace, stated)
        + (label(stated.given, f"{name} is given here") if stated.given is not None and not stated.given.path else ())
        + label(stated.first_span, f"`{stated.first}` says that it is {stated.inferred}")
        + tuple(Label(s.span, f"{s.name or 'the value'} is {s.inferred}") for s in drift.others),
        why="a stated shape is what the next reader builds on; one of the two is wrong",
        help="mend the one that the callers do not keep to"
        if stated.first
        else f"write {stated.inferred} here, or mend the code",
        notes=((f"agrees only if {when}",) if when else ()) + _likewise(drift),
        follows=_is_taken_at_its_word(trace, stated),
    )


def _is_taken_at_its_word(trace: Trace, stated: Stated) -> bool:
    """Whether the code goes on as the statement says, and squeezes the batch for the 1 that is said to be there."""
    if not stated.text.startswith("(1,") or not 0 <= stated.event < len(trace.events):
        return False
    return any(squeezes_batch(trace, user) for user in graph(trace).users[stated.event])


def _left(trace: Trace, stated: Stated) -> tuple[Label, ...]:
    """Labels where a function of the file returns the value, and where it makes it, unless the statement is there."""
    made = trace.events[stated.event] if 0 <= stated.event < len(trace.events) else None
    given = tensors_in(made.result) if made is not None else []
    span = next((trace.returned[t.uid] for t in given if t.uid in trace.returned), None)
    said = stated.form == "docstring" and stated.name == "the returned value"
    if made is None or span is None or (made.function == stated.function and not said):
        return ()
    return label(span, "returned here") + (label(made.span, f"it is {stated.inferred}") if said else ())


def _likewise(drift: Drift) -> tuple[str, ...]:
    """Where else the same is wrong."""
    if not drift.others:
        return ()
    places = ", ".join(f"line {s.span.line} (`{s.name or 'the value'}`)" for s in drift.others[:4])
    more = len(drift.others) - 4
    return (f"stated wrongly as well, for the same reason: {places}{f' and {more} more' if more > 0 else ''}",)


def _made(trace: Trace, stated: Stated) -> Event | None:
    """The event nearest before the statement that made the value it is about."""
    best: Event | None = None
    for event in trace.events:
        named = event.target == stated.name or (isinstance(event.result, Tensor) and event.result.name == stated.name)
        near = named and event.span.line <= stated.span.end_line
        if near and not event.span.path and (best is None or event.span.line >= best.span.line):
            best = event
    return best


RULE = Rule(
    code="SD701",
    name="stated-shape-disagrees",
    severity="warning",
    summary="A comment, docstring, annotation or assert states another shape than the code gives.",
    what="Reads the shapes that the author states, and compares them with the inferred ones: the number of axes, and "
    "names that stand for two different sizes. In comments and docstrings, whose letters are often used loosely, other "
    "sizes are a note; so is a comment that gives the same elements in the same order and groups them otherwise, as "
    "`(B, T, H*d)` of (B, T, H, d), or leaves a leading 1, or the batch of what it says for one "
    "example, out. It stands on the statement: where code and comment "
    "contradict each other, it is the comment that is reported. A comment below a line that names a variable of "
    "before, and has as many axes as what that line makes, has the wrong name and the right shape: it is left "
    "alone. So is a number of axes that only a comment of the caller's contradicts, since which of the two is wrong "
    "is not known.",
    why="Shape comments are how attention code is read. One that is wrong leads the next change astray, and often it "
    "was right once: the code is what changed.",
    instead="Correct the statement, or the code where the statement is what was meant.",
    source="jaxtyping documentation, Array annotations, for the annotated forms.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True)

    def forward(self, embedded):
        batch_size, T, d_embed = embedded.shape
        output, hidden = self.rnn(embedded)
        pooled = output.mean(dim=1)  # (batch_size, T, d_hidden)  # <- SD701
        return pooled


result = Encoder(5, 7)(torch.randn(2, 3, 5))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True)

    def forward(self, embedded):
        batch_size, T, d_embed = embedded.shape
        output, hidden = self.rnn(embedded)
        pooled = output.mean(dim=1)  # (batch_size, d_hidden)
        return pooled


result = Encoder(5, 7)(torch.randn(2, 3, 5))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since the code may be what is wrong: where the statement has the right names in another "
        "order, writes them in the order of the code."
    ),
    kind="silent",
)
