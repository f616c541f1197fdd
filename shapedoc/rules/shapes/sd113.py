"""SD113 misplaced-argument."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Misbound, Trace
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.shapes.ignored import Ignored, ignored

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    calls: dict[tuple[Span, str], list[Misbound]] = {}
    for found in trace.misbound.values():
        calls.setdefault((found.span, found.function), []).append(found)
    seen: set[Span] = set()
    for (span, _), some in calls.items():
        finding = None if span in seen else _of_call(trace, some)
        if finding is not None:
            seen.add(span)
            yield finding
    if trace.events:
        yield from (_ignoring(trace, found) for found in ignored(trace))


def _of_call(trace: Trace, found: list[Misbound]) -> Finding | None:
    moved = [f for f in found if f.argument]
    skipped = next((f for f in moved if f.optional and not f.elsewhere), None)
    if skipped is not None:
        return _misplaced(trace, skipped, 0)
    if _is_shifted(moved):
        return _misplaced(trace, moved[0], len(moved) - 1)
    pair = _swapped(moved)
    if pair is not None:
        return None if _both_ways(trace, pair) else _exchanged(trace, *pair)
    surplus = next((f for f in found if f.surplus), None)
    if surplus is not None:
        return _too_many(trace, surplus)
    missing = [f for f in found if not f.argument and f.computes]
    return _missing(trace, missing) if missing else None


def _is_shifted(moved: list[Misbound]) -> bool:
    """Whether several arguments all stand the same number of places from the parameters of their names."""
    return len({f.shift for f in moved}) == 1 and len({f.argument for f in moved}) == len(moved) > 1


def _swapped(found: list[Misbound]) -> tuple[Misbound, Misbound] | None:
    """Two arguments that stand in each other's places; what is built may well have its sizes the other way."""
    places = {f.parameter: f for f in found if f.kind not in ("constructor", "layer")}
    for one in places.values():
        other = places.get(one.argument)
        if other is not None and other.argument == one.parameter:
            return one, other
    return None


def _both_ways(trace: Trace, pair: tuple[Misbound, Misbound]) -> bool:
    """Whether the file has the same call in the order of the parameters too: then both orders are meant."""
    one, other = pair if pair[0].shift > 0 else pair[::-1]
    first, second = one.argument, other.argument
    called = trace.source(one.span).partition("(")[0]
    return any(
        first in call.arguments
        and second in call.arguments
        and call.arguments.index(first) < call.arguments.index(second)
        and trace.source(call.function) == called
        for call in trace.written.whole().calls
    )


def _misplaced(trace: Trace, found: Misbound, others: int) -> Finding:
    gets = f"`{found.argument}` keeps its default" if not found.elsewhere else f"`{found.argument}` gets another one"
    more = f", and {others} more stand at the places of others" if others else ""
    return _finding(
        trace,
        found,
        found.place,
        message=f"`{found.argument}` is given to the parameter `{found.parameter}` of {_called(found)}{more}",
        tensor=found.argument,
        labels=() if found.place is None else (Label(found.span, gets),),
        why="arguments without a name go by their places: nobody compares their names with the parameters",
        help=f"name it: `{found.argument}={found.argument}`" if not found.elsewhere else "name the arguments",
    )


def _exchanged(trace: Trace, one: Misbound, other: Misbound) -> Finding:
    return _finding(
        trace,
        one,
        one.place,
        message=f"`{one.argument}` and `{other.argument}` are given to {_called(one)} in the other order",
        tensor=one.argument,
        labels=() if other.place is None else (Label(other.place, f"given to `{other.parameter}`"),),
        why=f"`{one.argument}` goes to the parameter `{one.parameter}`, and `{other.argument}` to `{other.parameter}`",
        help="exchange them, or name both",
    )


def _missing(trace: Trace, found: list[Misbound]) -> Finding:
    first = found[0]
    names = ", ".join(f"`{f.parameter}`" for f in found)
    return _finding(
        trace,
        first,
        None,
        message=f"{_called(first)} is called without {names}",
        tensor=first.parameter,
        labels=(),
        why="Python raises a TypeError here: the parameter has no default",
        help=f"pass {names}",
    )


def _too_many(trace: Trace, found: Misbound) -> Finding:
    unknown = found.surplus.startswith("`")
    message = f"{_called(found)} has no parameter {found.surplus}"
    return _finding(
        trace,
        found,
        None,
        message=message if unknown else f"{_called(found)} is called with {found.surplus} more than it takes",
        tensor=found.surplus.strip("`") if unknown else "",
        labels=(),
        why="Python raises a TypeError here",
        help="call it by the names of its parameters" if unknown else "leave them out, or take them",
    )


def _ignoring(trace: Trace, found: Ignored) -> Finding:
    first, value = found.parameters[0].name, found.values[0]
    names = ", ".join(f"`{p.name}`" for p in found.parameters)
    many = len(found.parameters) > 1
    return Finding(
        RULE.code,
        RULE.name,
        RULE.severity,
        trace.path,
        found.call,
        f"{names} {'are' if many else 'is'} accepted and never read: `{found.called}` always gets `{first}={value}`",
        found.function,
        first,
        labels=tuple(Label(p.span, "accepted here") for p in found.parameters),
        why="whoever asks for another value gets the default all the same, which fits nothing but other defaults",
        help=f"pass it on: `{first}={first}`",
    )


def _called(found: Misbound) -> str:
    name = found.function
    for ending in (".__init__", ".forward", ".__call__"):
        name = name.removesuffix(ending)
    return f"`{name}`"


def _finding(
    trace: Trace,
    found: Misbound,
    span: Span | None,
    *,
    message: str,
    tensor: str,
    labels: tuple[Label, ...],
    why: str,
    help: str,
) -> Finding:
    return Finding(
        RULE.code,
        RULE.name,
        RULE.severity,
        trace.path,
        span or found.span,
        message,
        found.inside,
        tensor,
        labels=labels,
        why=why,
        help=help,
    )


RULE = Rule(
    code="SD113",
    name="misplaced-argument",
    severity="note",
    summary="A call gives an argument to another parameter than the one of its name, or leaves one without any.",
    what="Compares the names of the variables that a call gives by their places with the names of the parameters, for "
    "functions and modules of the author's and for the layers of PyTorch. Reports a variable that is given to one "
    "optional parameter while another one, of its very name, keeps its default; several variables that all stand the "
    "same number of places off; two that stand in each other's places, unless the file has the call both ways or an "
    "object is built; a required parameter of a module, or of a function that is given tensors, that gets nothing; and "
    "arguments that a module or a class does not take. Reports calls that are given a parameter's default, written out "
    "under the parameter's name, in a function that never reads the parameter. Notes, since what is wrong is no shape: "
    "`--notes` shows them.",
    why="Arguments go by their places, whatever they are called. `nn.GRU(d, d_h, n_layers, dropout)` sets `bias`, and "
    "nothing is dropped; a mask or a rate that lands on the wrong parameter changes what a model computes without a "
    "word. Public programs have all of these: see the examples.",
    instead="Name the arguments from the first optional one on: `nn.GRU(d, d_h, n_layers, dropout=dropout)`.",
    source="The Python language reference, Calls; PyTorch documentation, torch.nn.GRU, torch.nn.Unfold.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_in, d_h, kernel_size, padding, stride):
        super().__init__()
        self.windows = nn.Unfold(kernel_size, padding, stride)  # <- SD113
        self.out = nn.Linear(d_in * kernel_size**2, d_h)

    def forward(self, images):
        return self.out(self.windows(images).transpose(1, 2))


torch.manual_seed(0)
result = Encoder(3, 8, kernel_size=3, padding=1, stride=2)(torch.randn(2, 3, 8, 8))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Attention(nn.Module):
    def forward(self, query, memory, mask):
        scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
        weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


class Decoder(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.cell = nn.GRUCell(d_h, d_h)
        self.attention = Attention()

    def forward(self, step, state, memory):
        state = self.cell(step, state)
        return self.attention(state, memory), state  # <- SD113


Decoder(6)(torch.randn(2, 6), torch.randn(2, 6), torch.randn(2, 5, 6))
""",
            raises="TypeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, d_in, d_h, kernel_size, padding, stride):
        super().__init__()
        self.windows = nn.Unfold(kernel_size, padding=padding, stride=stride)
        self.out = nn.Linear(d_in * kernel_size**2, d_h)

    def forward(self, images):
        return self.out(self.windows(images).transpose(1, 2))


torch.manual_seed(0)
result = Encoder(3, 8, kernel_size=3, padding=1, stride=2)(torch.randn(2, 3, 8, 8))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Attention(nn.Module):
    def forward(self, query, memory, mask):
        scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
        weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


class Decoder(nn.Module):
    def __init__(self, d_h):
        super().__init__()
        self.cell = nn.GRUCell(d_h, d_h)
        self.attention = Attention()

    def forward(self, step, state, memory, mask):
        state = self.cell(step, state)
        return self.attention(state, memory, mask), state


Decoder(6)(torch.randn(2, 6), torch.randn(2, 6), torch.randn(2, 5, 6), torch.ones(2, 5, dtype=torch.bool))
"""
        ),
    ),
    check=check,
)
