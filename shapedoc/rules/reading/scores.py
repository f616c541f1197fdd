"""Products as attention has them: which are scores, and what the two sides of one are."""

from __future__ import annotations

from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.blame import axis_of
from shapedoc.rules.reading.flow import KEEPS, SHAPING, graph, shape_at
from shapedoc.rules.reading.sized import same_size
from shapedoc.rules.reading.wording import severity_of

__all__ = [
    "CREATES",
    "is_dot_score",
    "is_learned",
    "is_tainted",
    "leads_to_softmax",
    "maker",
    "source_of",
    "weight_made",
]

_SOFTMAX = frozenset(
    (
        "softmax",
        "log_softmax",
        "Softmax.forward",
        "LogSoftmax.forward",
        "softmin",
        "exp",
        "sparsemax",
        "entmax",
        "gumbel_softmax",
    )
)
_MAPS = frozenset(("Linear.forward", "linear", "Bilinear.forward", "Conv1d.forward", "LazyLinear.forward"))


# Ops that make a tensor out of nothing but its sizes.
CREATES = frozenset(
    (
        "randn", "rand", "randint", "uniform", "normal", "standard_normal", "random", "zeros", "ones", "empty", "full",
        "zeros_like", "ones_like", "randn_like", "new_zeros", "new_ones", "arange", "integers", "tensor",
    )
)  # fmt: skip


def leads_to_softmax(trace: Trace, event: Event) -> bool:
    """Whether what an event made is normalised by a softmax, masked and scaled at most before."""
    g = graph(trace)
    return any(e.short in _SOFTMAX for e in g.forward(event, lambda e: e.short in KEEPS))


def source_of(trace: Trace, operand: Operand | None) -> Event | None:
    """The event that made an operand's elements, before they were laid out as they are now."""
    if operand is None:
        return None
    g = graph(trace)
    made = g.producer(operand.value)
    return g.origin(made, SHAPING) if made is not None else None


def maker(trace: Trace, operand: Operand | None) -> Event | None:
    """The learned map whose output an operand is, its layout changed at most."""
    made = source_of(trace, operand)
    return made if made is not None and made.short in _MAPS else None


def is_tainted(trace: Trace, operand: Operand | None, *, noted: bool = True) -> bool:
    """Whether an operand comes out of an operation that did not fit: what is wrong with it follows from that.

    noted: one that is no more than a note counts too.
    """
    if operand is None:
        return False
    g = graph(trace)
    made = g.producer(operand.value)
    made = g.origin(made, SHAPING | _PASSES) if made is not None else None
    return made is not None and any(_spoils(p, noted) for p in made.problems)


def _spoils(problem: Problem, noted: bool) -> bool:
    severity = severity_of(problem.sameness)
    told = severity is not None and (noted or severity != "note")
    return (problem.loud or problem.kind in _SPOILS) and told


_SPOILS = frozenset(
    ("mismatched-product", "mismatched-batch", "mismatched-module-input", "mismatched-join", "impossible-view")
)
_PASSES = frozenset(
    (
        "tanh",
        "relu",
        "gelu",
        "sigmoid",
        "dropout",
        "Dropout.forward",
        "Tanh.forward",
        "ReLU.forward",
        "add",
        "mul",
        "div",
    )
)


def is_learned(operand: Operand | None) -> bool:
    """Whether an operand is a parameter of the model."""
    return operand is not None and isinstance(operand.value, Tensor) and operand.value.learned


def weight_made(trace: Trace, operand: Operand | None) -> Event | None:
    """The event that made the learned matrix that an operand is: a parameter, or an array built in a constructor."""
    made = source_of(trace, operand)
    if made is None or not isinstance(made.result, Tensor):
        return None
    if made.result.learned or (operand is not None and is_learned(operand)):
        return made
    built = made.function.endswith("__init__") and made.result.name.startswith("self.")
    return made if built and made.short in CREATES else None


_RAW = frozenset(
    (
        "GRU.forward",
        "LSTM.forward",
        "RNN.forward",
        "GRUCell.forward",
        "LSTMCell.forward",
        "RNNCell.forward",
        "Embedding.forward",
        "embedding",
        "LayerNorm.forward",
        "dropout",
        "Dropout.forward",
        "pad_packed_sequence",
    )
)


def is_dot_score(trace: Trace, event: Event, problem: Problem) -> bool:
    """Whether a product is a dot score of a state and a memory as they are, the features of both summed.

    Neither side comes out of a learned map: such a map would be what has the wrong size.
    """
    if event.sizes is None or len(problem.axes) != 2 or not leads_to_softmax(trace, event):
        return False
    raw = 0
    for name, position in zip(problem.operands, problem.axes, strict=True):
        operand = event.operand(name)
        axis = axis_of(event, operand, position)
        if axis is None or (axis.dim.const is not None and not event.calls):
            return False
        if maker(trace, operand) is not None or weight_made(trace, operand) is not None:
            return False
        if any(event.sizes.role(axis, role) is not None for role in ("row", "time", "batch")):
            return False
        made = source_of(trace, operand)
        raw += made is not None and made.short in _RAW
    return raw > 0 or not _exchangeable(event, problem)


def _exchangeable(event: Event, problem: Problem) -> bool:
    """Whether another axis of one operand has the size that the other is summed over: a forgotten transpose."""
    operands = [event.operand(name) for name in problem.operands]
    axes = [axis_of(event, o, p) for o, p in zip(operands, problem.axes, strict=True)]
    return any(
        wanted is not None and same_size(event, shape_at(event, operand), wanted) is not None
        for operand, wanted in zip(operands, reversed(axes), strict=True)
    )
