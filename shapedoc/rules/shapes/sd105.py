"""SD105 wrong-rank."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Call, Event, Operand, Problem, Trace
from shapedoc.core.value import Layer
from shapedoc.rules.reading.blame import clearest, faulty_call, layer_of, problems
from shapedoc.rules.reading.flow import SHAPING, graph, result_shape, shape_at
from shapedoc.rules.reading.recurrent import is_single_step
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import atom, made_before
from shapedoc.rules.reading.unbatched import unbatched
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.column_indices import picked_by_column
from shapedoc.rules.shapes.fedback import Refed, fed_back
from shapedoc.rules.shapes.unbound import unbound
from shapedoc.rules.shapes.whole_pairs import whole_pairs

__all__ = ["RULE"]

_KIND = "wrong-rank"
_ON_THE_WAY = SHAPING | {"Embedding.forward", "embedding", "dropout", "Dropout.forward"}


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, _KIND, "mismatched-recurrent-state"):
        if severity_of(problem.sameness) is None:
            continue
        if problem.kind == _KIND:
            operand = event.operand(problem.operands[0]) if problem.operands else None
            if not is_tainted(trace, operand, noted=False):
                yield _found(trace, *clearest(trace, event, problem))
        elif is_single_step(event, problem):
            yield _step(trace, event)
    yield from (_step(trace, found.run, found.join) for found in unbatched(trace))
    yield from (_refed(trace, refed) for refed in fed_back(trace))
    yield from (_of_column(trace, *found) for found in picked_by_column(trace))
    yield from unbound(trace, RULE.code, RULE.name)
    yield from whole_pairs(trace, RULE.code, RULE.name)


def _found(trace: Trace, event: Event, problem: Problem) -> Finding:
    operand = event.operand(problem.operands[0]) if problem.operands else None
    call = faulty_call(trace, event, (_KIND,))
    text = text_of(trace, operand) if event.op != "unpack" else _name(operand)
    actual = shape_text(event, operand.shape) if operand is not None else ""
    layer = layer_of(event)
    return finding(
        trace,
        event,
        call.span if call is not None else _span(event, operand),
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=_title(event, problem, text),
        tensor=text,
        actual=actual,
        labels=_fact(event, operand, text, actual)
        + _named_later(trace, event, operand)
        + _built(layer)
        + made_before(trace, event, operand)
        + call_labels(event),
        why=_why(event, problem),
        help=_help(trace, event, problem, operand, text),
        causes=_causes(event, problem),
    )


def _causes(event: Event, problem: Problem) -> tuple[str, ...]:
    """An operation that a function takes for one of other tensors, wherever it does."""
    wanted = problem.detail.get("wanted", "")
    told = event.op != "unpack" and problem.detail.get("why") != "indices" and wanted.isdigit()
    return (f"{wanted} axes for {_called(event)} in {event.function}",) if told else ()


def _span(event: Event, operand: Operand | None) -> Span:
    """The argument; the whole operation where that is what it is called on."""
    if operand is None or operand.span is None or event.op.startswith(("torch.Tensor.", "operator.", "numpy.ndarray.")):
        return event.span
    return operand.span


def _name(operand: Operand | None) -> str:
    name = getattr(operand.value, "name", "") if operand is not None else ""
    return str(name) or "the tensor"


def _called(event: Event) -> str:
    short = event.short.removesuffix(".forward")
    layer = layer_of(event)
    return layer.name if layer is not None and layer.name else short


def _title(event: Event, problem: Problem, text: str) -> str:
    wanted, got = problem.detail.get("wanted", ""), problem.detail.get("got", "")
    if problem.detail.get("why") == "results":
        results = "one tensor" if got == "1" else f"{got} results"
        return f"`{problem.detail.get('called', '')}` gives {results}, which {wanted} names are to take"
    if event.op == "unpack":
        return f"{wanted} names for the {got} axes of `{text}`"
    if problem.detail.get("why") == "indices":
        return f"{wanted.removeprefix('at least ')} indices into `{text}`, which has {_axes(got)}"
    if not wanted or not got:
        return f"`{text}` has another number of axes than `{_called(event)}` needs"
    return f"`{_called(event)}` needs {_axes(wanted)}, `{text}` has {got}"


def _axes(count: str) -> str:
    return f"{count} axis" if count.endswith("1") and not count[:-1].endswith("1") else f"{count} axes"


def _why(event: Event, problem: Problem) -> str:
    if problem.detail.get("why") == "results":
        if problem.detail.get("got") == "1":
            return "a tensor is taken apart along its first axis: that raises nothing where it happens to fit"
        return "Python raises a ValueError: every result needs a name"
    match event.short:
        case "unpack":
            return "Python unpacks a shape into as many names as the tensor has axes"
        case "bmm" | "baddbmm":
            return "bmm multiplies one batch of matrices and broadcasts nothing: both are (b, n, m) and (b, m, p)"
        case "mm" | "mv" | "dot":
            return f"{event.short} takes no batch; `@` and matmul do"
        case "einsum":
            return "every operand has one letter for each of its axes"
        case "t":
            return "t() is for matrices"
        case "permute" | "transpose":
            return "permute names every axis once"
    if problem.detail.get("why") == "indices":
        return "an index takes one axis away, and there are not so many"
    return f"that is what the documentation of {event.short.removesuffix('.forward')} says it takes"


def _help(trace: Trace, event: Event, problem: Problem, operand: Operand | None, text: str) -> str:
    got, wanted = problem.detail.get("got", ""), problem.detail.get("wanted", "")
    inner = atom(text)
    if problem.detail.get("why") == "results":
        return "name the result as a whole" if got == "1" else f"name all {got}, or `_` for what is not used"
    match event.short, got:
        case "unpack", _:
            shape = shape_at(event, operand)
            return f"name all {got} axes" + (f" of {shape_text(event, shape)}" if shape is not None else "")
        case (("bmm" | "baddbmm"), "2"):
            return f"{inner}.unsqueeze({1 if problem.operands[0] == 'input' else 2}), or matmul, which broadcasts"
        case (("bmm" | "baddbmm"), "4"):
            return "torch.matmul, which takes any number of leading axes"
        case (("mm" | "mv" | "dot"), _):
            return "torch.matmul, which takes batches"
        case "t", _:
            return f"{inner}.transpose(-2, -1)"
    if got.isdigit() and wanted.isdigit():
        ours, theirs = int(got), int(wanted)
        if ours == theirs - 1:
            return f"{inner}.unsqueeze(...) where the missing axis belongs"
        if ours > theirs:
            return f"take {ours - theirs} of its axes away: index, squeeze or flatten them"
    return f"bring {text} to {_axes(wanted)}" if wanted else f"give {text} the axes that are needed"


def _fact(event: Event, operand: Operand | None, text: str, actual: str) -> tuple[Label, ...]:
    if operand is None or not actual:
        return ()
    return label(operand.span or event.span, f"{text} is {actual}")


def _named_later(trace: Trace, event: Event, operand: Operand | None) -> tuple[Label, ...]:
    """A label at the line that gave the axes of a parameter their names, where that is another one."""
    shape = shape_at(event, operand)
    if shape is None or event.span.path:
        return ()
    lines = trace.text.splitlines()
    for axis in shape.axes:
        sym = axis.dim.sym
        if sym is None or not sym.name or sym.owner != event.function or not 0 < sym.line <= len(lines):
            continue
        if sym.line != event.span.line and ".shape" in lines[sym.line - 1]:
            text = lines[sym.line - 1]
            start = len(text) - len(text.lstrip())
            return (
                Label(
                    Span(sym.line, start, sym.line, len(text.rstrip())), f"its {len(shape.axes)} axes are named here"
                ),
            )
    return ()


def _built(layer: Layer | None) -> tuple[Label, ...]:
    return (Label(layer.span, f"{layer.kind.rpartition('.')[2]} is built here"),) if layer is not None else ()


def _step(trace: Trace, event: Event, join: Event | None = None) -> Finding:
    """One step passed to a sequence module: torch takes (batch, features) for (time, features) without a batch."""
    operand, layer = event.operand("input"), layer_of(event)
    text, actual = text_of(trace, operand), shape_text(event, operand.shape if operand is not None else None)
    call = _below(trace, event, operand, faulty_call(trace, event, ("mismatched-recurrent-state",)))
    first = layer is not None and getattr(layer.config.get("batch_first"), "value", None) is True
    inner = atom(text)
    span = operand.span if operand is not None else None
    return finding(
        trace,
        event,
        call.span if call is not None else span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{_called(event)}` takes a sequence, `{text}` is one step with 2 axes",
        tensor=text,
        actual=actual,
        labels=_fact(event, operand, text, actual)
        + _built(layer)
        + (label(join.span, "its state, of one sequence, is joined with all of its rows") if join is not None else ())
        + made_before(trace, event, operand)
        + call_labels(event),
        why="torch takes two axes for (time, features) without a batch, and "
        + ("gives one state for all rows" if join is not None else "the state that is passed has a batch"),
        help=f"{inner}.unsqueeze({1 if first else 0}), a sequence of one step",
    )


def _refed(trace: Trace, refed: Refed) -> Finding:
    """What a loop feeds back has other axes than what it began with."""
    event, operand = refed.event, refed.operand
    text, actual = text_of(trace, operand), shape_text(event, refed.after)
    began = shape_text(refed.first, refed.before)
    made = refed.made
    outer = event.calls[-1].span if event.calls and event.calls[-1].span.path == event.span.path else None
    ours, theirs = refed.after.rank or 0, refed.before.rank or 0
    more = f"take {ours - theirs} of its axes away" if ours > theirs else f"give it {theirs - ours} more"
    return finding(
        trace,
        event,
        made.span if made is not None and not made.span.path else outer,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the loop starts with {began} for `{_called(event)}` and goes on with {actual}",
        tensor=text,
        actual=actual,
        expected=began,
        labels=label(event.span, f"looked up here, {began} at first")
        + label(outer, "fed back in the next round")
        + call_labels(event),
        why="an embedding takes any number of axes and hands them on: every round would have others than the first",
        help=f"{more} before the next round, with squeeze or an index" if ours > theirs else f"{more}, with unsqueeze",
    )


def _of_column(trace: Trace, event: Event, index: Operand, made: Event) -> Finding:
    """Rows that are picked by a column."""
    text, actual = text_of(trace, index), shape_text(event, index.shape)
    picked = text_of(trace, event.operand("input"))
    return finding(
        trace,
        event,
        index.span,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{text}` is a column {actual}: what it picks of `{picked}` has an axis of size 1 more",
        tensor=text,
        actual=actual,
        labels=label(made.span, f"{text} is made here")
        + label(event.span, f"it is {shape_text(event, event.shape)}")
        + call_labels(event),
        why="an index tensor puts its own axes where the axis was that it picks of",
        help=f"{atom(text)}.squeeze(1), or a vector to begin with",
    )


def _below(trace: Trace, event: Event, operand: Operand | None, call: Call | None) -> Call | None:
    """The call at fault, no further out than where the step was taken out of its sequence."""
    g = graph(trace)
    made = g.producer(operand.value) if operand is not None else None
    while made is not None and made.short in _ON_THE_WAY and not _takes_a_step(made):
        made = g.main_source(made)
    if call is None or made is None or not _takes_a_step(made):
        return call
    depth = len(made.calls)
    if call in event.calls[depth:] or [c.id for c in made.calls] != [c.id for c in event.calls[:depth]]:
        return call
    return event.calls[depth] if depth < len(event.calls) else None


def _takes_a_step(event: Event) -> bool:
    """Whether an event takes one element along an axis: ``x[:, t]``."""
    before, after = shape_at(event, event.operand("input")), result_shape(event)
    ranks = (before.rank if before is not None else None, after.rank if after is not None else None)
    return event.short in ("getitem", "select") and None not in ranks and ranks[0] != ranks[1]


RULE = Rule(
    code="SD105",
    name="wrong-rank",
    severity="error",
    summary="A tensor has another number of axes than an operation takes.",
    what="Reports `bmm` on two or four axes, `B, T, C = x.shape` of a tensor with another number of axes, `permute` "
    "with the wrong count, an index too many, an einsum operand with more axes than letters, and one step passed to a "
    "module that takes sequences, and the pair that a recurrent layer or `MultiheadAttention` gives, where one tensor "
    "is taken. It stands on the argument, or on the call of a function that is sound by itself.",
    why="torch raises, and its message has numbers only: `batch1 must be a 3D tensor`. Where it does not raise, as "
    "with two axes into a recurrent module, it takes the batch for the time.",
    instead="Add the missing axis where it belongs (`query.unsqueeze(1)`), or use an operation that takes any number "
    "of leading axes (`@` for `bmm`).",
    source="PyTorch documentation, torch.bmm, torch.permute, torch.nn.GRU.",
    bad=(
        Example(
            """\
import torch


def attend(query, memory):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, query)  # <- SD105
    return scores


result = attend(torch.randn(2, 7), torch.randn(2, 5, 7))
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True)

    def forward(self, embedded):
        output, hidden = self.rnn(embedded)
        batch_size, d_hidden = output.shape  # <- SD105
        return output.reshape(batch_size, d_hidden)


result = Encoder(7, 11)(torch.randn(2, 5, 7))
""",
            raises="ValueError",
        ),
    ),
    good=(
        Example(
            """\
import torch


def attend(query, memory):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, query.unsqueeze(2))
    return scores


result = attend(torch.randn(2, 7), torch.randn(2, 5, 7))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_embed, d_hidden):
        super().__init__()
        self.rnn = nn.GRU(d_embed, d_hidden, batch_first=True)

    def forward(self, embedded):
        output, hidden = self.rnn(embedded)
        batch_size, T, d_hidden = output.shape
        return output.reshape(batch_size, T * d_hidden)


result = Encoder(7, 11)(torch.randn(2, 5, 7))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: puts in or takes out an axis of size 1, names every axis of a "
        "permutation or of an unpacking, or writes `matmul` for `bmm`."
    ),
    kind="loud",
)
