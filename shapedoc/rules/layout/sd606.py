"""SD606 norm-over-wrong-axis."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Layer, Tensor
from shapedoc.rules.layout.joined_states import state_across_examples
from shapedoc.rules.reading.contractions import literal, names, reduced_axes, tensor_operands
from shapedoc.rules.reading.elementwise import keeps_axis
from shapedoc.rules.reading.flow import SHAPING, Graph, graph, result_shape, shape_at
from shapedoc.rules.reading.layouts import is_batch_name
from shapedoc.rules.reading.recurrent import final_state_of
from shapedoc.rules.reading.wording import call_labels, finding, label, made_by, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_SPREADS = names("std var")
_CARRIES = SHAPING | names("add mul tanh relu sigmoid dropout Dropout.forward")
_TAKES = names("Linear.forward linear GRUCell.forward LSTMCell.forward RNNCell.forward GRU.forward LSTM.forward")
_PREPARED = names("clamp clip clamp_min maximum sqrt add detach")
_ARITHMETIC = names("sub div add mul sqrt rsqrt pow")


def check(trace: Trace) -> Iterator[Finding]:
    seen: set[Span] = set()
    for event in sorted(trace.events, key=lambda e: len(e.calls)):
        if event.span in seen:
            continue
        if any(p.kind == "scrambled-view" for p in event.problems):
            found = _joined_state(trace, event)
        elif event.short in ("view", "reshape"):
            unranked = state_across_examples(trace, event)
            found = _mixed(trace, event, unranked, certain=_goes_both_ways(unranked)) if unranked is not None else None
        elif event.short in _SPREADS or event.short == "mean":
            found = _statistic(trace, event) or _batch_mean(trace, event)
        else:
            continue
        if found is not None:
            seen.add(event.span)
            yield found


def _joined_state(trace: Trace, event: Event) -> Finding | None:
    """A view of a final state (layers * directions, B, d) as (B, ...)."""
    operand = next(iter(tensor_operands(event)), None)
    source = final_state_of(trace, operand) if operand is not None else None
    shape = shape_at(event, operand)
    if operand is None or source is None or shape is None or event.sizes is None or len(shape.axes) < 2:
        return None
    result = result_shape(event)
    if result is not None and any(a.same(shape.axes[1]) for a in result.axes):
        return None  # the batch is left alone
    return _mixed(trace, event, source)


def _goes_both_ways(source: Event) -> bool:
    """Whether a module runs in both directions, so that its state has more than one row whatever its layers are."""
    layer = source.value("self")
    both = layer.config.get("bidirectional") if isinstance(layer, Layer) else None
    return isinstance(both, Bool) and both.value is True


def _mixed(trace: Trace, event: Event, source: Event, *, certain: bool = True) -> Finding:
    """A view of a final state that takes its rows from several examples."""
    operand = tensor_operands(event)[0]
    shape = shape_at(event, operand)
    text, actual = text_of(trace, operand), shape_text(event, shape)
    count = event.sizes.show(shape.prefix[0].dim) if event.sizes is not None and shape is not None else "?"
    helped = f"torch.cat((h[-2], h[-1]), dim=-1), or {text}.transpose(0, 1).reshape(...)"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error" if certain else "warning",
        message=f"`{event.short}` of the state {text} {actual} as {shape_text(event, result_shape(event))} "
        "joins states of different examples",
        tensor=text,
        actual=actual,
        labels=label(source.span, "the state comes from here") + call_labels(event),
        why=f"the first axis counts layers and directions ({count}), and a view does not move it behind the batch: a "
        "row of the result is made of the states of several examples",
        help=helped,
    )


def _statistic(trace: Trace, event: Event) -> Finding | None:
    """A mean or deviation of a layer norm written by hand, over another axis than the features."""
    g = graph(trace)
    operand = next(iter(tensor_operands(event)), None)
    shape, axis = shape_at(event, operand), literal(event.value("dim"))
    if operand is None or shape is None or shape.rank is None or shape.rank < 3 or axis is None:
        return None
    place = axis % shape.rank
    if place in (0, shape.rank - 1) or not keeps_axis(event) or event.target.startswith("self."):
        return None
    both = _statistics(g, event, operand)
    if shape.axes[place].dim == ONE or not any(_is_scaled(g, e) for e in both):
        return None
    if any(_is_kept(g, e) for e in both):
        return None
    text, actual = text_of(trace, operand), shape_text(event, shape)
    size = event.sizes.show(shape.axes[place].dim) if event.sizes is not None else "?"
    feature = event.sizes.show(shape.axes[-1].dim) if event.sizes is not None else "?"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"`{event.short}` runs over axis {axis}{f' (`{size}`)' if size != '?' else ''} of {text} {actual}, "
        f"but gain and bias belong to its last axis{f' (`{feature}`)' if feature != '?' else ''}",
        tensor=text,
        actual=actual,
        labels=made_by(trace, operand.value, event, text) + call_labels(event),
        why="a layer norm standardises the features of each position by themselves; over time, positions set each "
        "other's scale, padding among them",
        help=f"{event.short}(-1, keepdim=True)",
    )


def _batch_mean(trace: Trace, event: Event) -> Finding | None:
    """A mean over the batch that a map or a cell of the model takes for the state of one example."""
    operand = next(iter(tensor_operands(event)), None)
    shape = shape_at(event, operand)
    axes = reduced_axes(event, shape) if shape is not None and event.short == "mean" else None
    if operand is None or shape is None or axes is None or event.sizes is None or len(axes) == len(shape.axes):
        return None
    if event.doubtful:
        return None  # which axis is the batch rests on what is contradicted
    batch = next((a for a in axes if _is_batch(event, a)), None)
    if batch is None or _is_another(event, shape, batch):
        return None
    g = graph(trace)
    carried = [event, *g.forward(event, lambda e: e.short in _CARRIES)]
    taken = next((e for e in carried if e.short in _TAKES), None)
    kept = next((e for e in carried if e.target == text_of(trace, operand)), None) if taken is None else None
    again = _read_next_time(trace, kept) if kept is not None else None
    used = taken or again
    if used is None:
        return None
    text, actual = text_of(trace, operand), shape_text(event, shape)
    size = event.sizes.show(batch.dim)
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"`mean` of {text} {actual} runs over the batch{f' `{size}`' if size != '?' else ''}",
        tensor=text,
        actual=actual,
        labels=label(used.span, f"and is taken for the state of an example here{'' if taken else ', by the next call'}")
        + call_labels(event),
        why="every example then gets the mean of all: what a model says of one depends on what else is in the batch",
        help="leave the batch out of `dim`",
    )


def _read_next_time(trace: Trace, event: Event) -> Event | None:
    """Where the attribute that keeps a result until the next call is read to be made anew."""
    if not event.target.startswith("self."):
        return None
    for earlier in trace.events[: event.index]:
        if earlier.function == event.function and earlier.calls == event.calls:
            if any(text_of(trace, operand) == event.target for operand in earlier.operands):
                return earlier
            if earlier.target == event.target:
                break
    return None


def _is_batch(event: Event, axis: Axis) -> bool:
    sizes = event.sizes
    if sizes is None or axis.dim == ONE:
        return False
    if any(sizes.role(axis, role) is not None for role in ("time", "feature")):
        return False
    return is_batch_name(sizes, axis) or sizes.role(axis, "batch") is not None


def _is_another(event: Event, shape: Shape, batch: Axis) -> bool:
    """Whether a module takes an axis for the batch, and the author calls another one so: the layout is the fault."""
    sizes = event.sizes
    if sizes is None or is_batch_name(sizes, batch):
        return False
    return any(is_batch_name(sizes, a) for a in shape.axes if a is not batch)


def _users(g: Graph, value: Tensor, event: Event) -> list[Event]:
    source = g.producer(value)
    if source is not None:
        return g.users[source.index]
    near = g.trace.events[max(0, event.index - 40) : event.index + 40]
    return [e for e in near if any(o.value is value for o in e.operands)]


def _statistics(g: Graph, event: Event, operand: Operand) -> list[Event]:
    """The mean and the deviation of a tensor over one axis; empty unless there are both."""
    value = operand.value
    if not isinstance(value, Tensor):
        return []
    axis = literal(event.value("dim"))
    users = [e for e in _users(g, value, event) if literal(e.value("dim")) == axis]
    both = any(e.short == "mean" for e in users) and any(e.short in _SPREADS for e in users)
    return users if both else []


def _is_kept(g: Graph, event: Event) -> bool:
    """Whether a mean or a deviation is put back later: a series standardised by itself, and its forecast set back.

    It is kept on the object, or what has been divided by it is multiplied with it.
    """
    if event.short != "mean" and event.short not in _SPREADS:
        return False
    made = [event, *(e for e in g.forward(event, lambda e: e.short in _PREPARED) if e.short in _PREPARED)]
    if any(e.target.startswith("self.") for e in made):
        return True
    return event.short in _SPREADS and any(u.short == "mul" for e in made for u in g.users[e.index])


def _is_scaled(g: Graph, event: Event) -> bool:
    """Whether what is standardised is multiplied with a vector of the model's own, learned or built with it."""
    for step in g.forward(event, lambda e: e.short in _ARITHMETIC):
        for other in tensor_operands(step):
            value, made = other.value, g.producer(other.value)
            own = made is not None and made.function.endswith("__init__")
            if isinstance(value, Tensor) and (value.learned or own) and value.shape.rank == 1:
                return step.short in _ARITHMETIC
    return False


RULE = Rule(
    code="SD606",
    name="norm-over-wrong-axis",
    severity="warning",
    summary="A norm over time where features were meant, or a view that joins a state's directions with the batch.",
    what="Looks at layer norms written by hand (a mean and a deviation over one axis, then a learned gain) whose "
    "axis is "
    "not the last, and at views of a final state `(layers * directions, B, d)` as `(B, ...)`.",
    why="Statistics over time make every position depend on all others, on padding, and on the future. A view of the "
    "state takes the states of two examples for the two directions of one.",
    instead="`x.mean(-1, keepdim=True)`; `torch.cat((h_n[-2], h_n[-1]), dim=-1)`.",
    source="Ba et al. 2016, equation 4; PyTorch documentation, torch.nn.GRU (h_n).",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gru = nn.GRU(dim, dim, batch_first=True, bidirectional=True)

    def forward(self, x):
        batch_size, T, dim = x.shape
        output, h_n = self.gru(x)
        return h_n.view(batch_size, 2 * dim)  # <- SD606


torch.manual_seed(0)
result = Encoder(4)(torch.randn(3, 5, 4))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        batch_size, T, dim = x.shape
        mean = x.mean(1, keepdim=True)  # <- SD606
        std = x.std(1, keepdim=True)  # <- SD606
        return self.gain * (x - mean) / (std + 1e-6)


torch.manual_seed(0)
result = Norm(4)(torch.randn(3, 5, 4))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gru = nn.GRU(dim, dim, batch_first=True, bidirectional=True)

    def forward(self, x):
        batch_size, T, dim = x.shape
        output, h_n = self.gru(x)
        return torch.cat((h_n[0], h_n[1]), dim=-1)


torch.manual_seed(0)
result = Encoder(4)(torch.randn(3, 5, 4))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        batch_size, T, dim = x.shape
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.gain * (x - mean) / (std + 1e-6)


torch.manual_seed(0)
result = Norm(4)(torch.randn(3, 5, 4))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: takes mean and deviation over the features, or joins directions along them."
    ),
    kind="silent",
)
