"""SD607 discarded-result."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Layer, NoneValue, Tensor
from shapedoc.rules.layout.idle import Idle, idle_layers
from shapedoc.rules.layout.redrawn import redrawn
from shapedoc.rules.reading.contractions import names, tensor_operands
from shapedoc.rules.reading.flow import Graph, graph, shape_at
from shapedoc.rules.reading.scores import CREATES
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

# The methods that nothing but a tensor has.
_ONLY_TENSORS = names(
    "masked_fill masked_scatter index_fill index_copy index_add scatter_add unsqueeze permute expand_as "
    "view_as clamp clamp_min clamp_max tril triu nan_to_num swapdims movedim unflatten repeat_interleave t softmax "
    "log_softmax"
)
# The methods that other objects have too, some of which change them.
_METHODS = _ONLY_TENSORS | names(
    "view reshape transpose squeeze expand repeat flatten contiguous swapaxes flip roll narrow clip type_as to cuda "
    "cpu float double half long int bool type astype detach clone add sub mul div neg exp log sqrt pow tanh relu "
    "sigmoid scatter"
)
_FUNCTIONS = names(
    "masked_fill masked_scatter index_fill index_copy index_add scatter scatter_add where unsqueeze permute clamp tril "
    "triu nan_to_num swapdims movedim repeat_interleave view reshape transpose squeeze flatten swapaxes flip roll "
    "narrow broadcast_to expand_dims rearrange dropout full full_like zeros_like ones_like clip tile"
)
_MODULES = names(
    "Dropout.forward Dropout2d.forward ReLU.forward Tanh.forward Sigmoid.forward GELU.forward LeakyReLU.forward "
    "Softmax.forward LayerNorm.forward"
)
# What moves a tensor or gives it another type: the whole of a model goes by the same methods, and is changed by them.
_CONVERTS = names("to cuda cpu float double half long int bool type astype detach clone type_as")

_PASSING = names("getitem phi unpack")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    seen: set[Span] = set()
    for event in trace.events:
        if not event.discarded or event.in_place or event.span in seen or event.span.path:
            continue
        if _makes_only_a_result(g, event):
            seen.add(event.span)
            yield _found(trace, g, event)
    yield from (_idle(trace, found) for found in idle_layers(trace))
    yield from redrawn(trace, RULE.code, RULE.name)


def _makes_only_a_result(g: Graph, event: Event) -> bool:
    """Whether an operation does nothing but make a new tensor, or a new layer."""
    if event.op.endswith(".from_pretrained"):
        return True
    if not isinstance(event.result, Tensor):
        return False
    layer = event.value("self")
    if isinstance(layer, Layer):
        in_place = layer.config.get("inplace")
        return event.short in _MODULES and (in_place is None or _is_false(in_place))
    if event.op.startswith(("torch.Tensor.", "numpy.ndarray.")):
        receiver = next(iter(tensor_operands(event)), None)
        if receiver is None or event.short not in _METHODS:
            return False
        return event.short in _ONLY_TENSORS or _is_tensor(g, event, receiver)
    return event.short in _FUNCTIONS and _is_false(event.value("inplace") or Bool(False))


def _is_false(value: object) -> bool:
    return isinstance(value, NoneValue) or (isinstance(value, Bool) and value.value is False)


def _is_tensor(g: Graph, event: Event, receiver: Operand) -> bool:
    """Whether it is known that what a method is called of is a tensor, and what for."""
    made = g.producer(receiver.value)
    converts = event.short in _CONVERTS
    # What has been moved was a model, perhaps, and is one still.
    while made is not None and made.short in (_PASSING | _CONVERTS if converts else _PASSING):
        made = g.main_source(made)
    if made is not None:
        # A tensor that is made to be moved warms a device up.
        return not (converts and made.short in CREATES)
    shape = shape_at(event, receiver)
    return not converts and shape is not None and shape.rank is not None


def _found(trace: Trace, g: Graph, event: Event) -> Finding:
    operands = tensor_operands(event)
    method = event.op.startswith(("torch.Tensor.", "numpy.ndarray."))
    receiver = operands[0] if operands and (method or event.value("self") is not None) else None
    text = text_of(trace, receiver) if receiver is not None else "the tensor"
    call = trace.source(event.span)
    call = call if len(call) <= 60 else f"{call[:57]}..."
    later = _used_again(g, event, receiver) if receiver is not None else None
    after = label(later.span, f"{text} is used here as it was") if later is not None else ()
    layer = event.op.endswith(".from_pretrained")
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the result of `{call}` is thrown away",
        tensor=text,
        actual=shape_text(event, receiver.shape) if receiver is not None else "",
        expected=shape_text(event, event.shape),
        labels=after + call_labels(event),
        why="`from_pretrained` is a class method that builds a new layer: the one it is called of keeps its weights"
        if layer
        else f"`{event.short.removesuffix('.forward')}` leaves its operand alone and gives a new tensor, which nobody "
        "takes",
        help="assign the layer that it gives" if layer else _step(event, text, call, method=method),
    )


def _idle(trace: Trace, found: Idle) -> Finding:
    """A layer that is built for nothing, since its twin is called in its place."""
    event = found.second
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"`{found.other}` is called twice, and `{found.name}`, built alike, never",
        tensor=found.name,
        labels=label(found.built.span, f"`{found.name}` is built here and named nowhere else")
        + label(found.first.span, f"`{found.other}` is called here")
        + call_labels(event),
        why="both calls learn one set of weights, and the weights of the other layer stay as they were drawn",
        help=f"call `{found.name}` here, or take it away",
    )


def _step(event: Event, text: str, call: str, *, method: bool) -> str:
    if not method and event.value("self") is None:
        return "assign the result, or take the line away"
    return f"assign it: `{text} = {call}`"


def _used_again(g: Graph, event: Event, receiver: Operand) -> Event | None:
    """The next operation that uses the operand, as if it had been changed."""
    for other in g.trace.events[event.index + 1 :]:
        same_walk = other.calls == event.calls and other.span > event.span
        if same_walk and any(o.value is receiver.value for o in tensor_operands(other)):
            return other
    return None


RULE = Rule(
    code="SD607",
    name="discarded-result",
    severity="error",
    summary="An operation that changes nothing stands on a line of its own, and nobody takes its result.",
    what="Reports calls that stand as statements and do nothing but make a new tensor: layouts, masks, clamps, "
    "conversions, dropout and other layers without a state, and `from_pretrained` of a layer. Methods that end in `_`, "
    "calls with `out=` or `inplace=True`, expressions at the top of a file or of a notebook's cell, which may stand "
    "there to be shown, and what stands inside of `try` or `pytest.raises` are left alone. Where it is not known that "
    "an object is a tensor, only the methods that nothing else has count. A layer that a class builds and never names "
    "again is reported where one of nearly the same name, built alike, is called of two things: of those, one was its. "
    "So are weights that are taken out by name to be drawn just as all are.",
    why="Tensors are not changed by their methods, those that end in `_` apart. A mask that is filled on a line of its "
    "own masks nothing, a view on a line of its own lays nothing out; shapes often agree all the same, and training "
    "works on the wrong scores. Eight public programs showed it when the rule was made: masks of padding and of the "
    "diagonal that never hid anything, masks and weights that were not laid out, a dropout that was not applied, word "
    "vectors that were never loaded.",
    instead="`scores = scores.masked_fill(mask, float('-inf'))`, or `scores.masked_fill_(mask, float('-inf'))`.",
    source="PyTorch documentation, torch.Tensor (methods that end in an underscore), torch.Tensor.masked_fill, "
    "torch.nn.Embedding.from_pretrained; flake8-bugbear B018 (useless expression), which leaves calls out.",
    bad=(
        Example(
            """\
import torch


def attend(query, keys, values, is_padding):
    scores = torch.bmm(query, keys.transpose(1, 2))
    scores.masked_fill(is_padding.unsqueeze(1), float("-inf"))  # <- SD607
    return torch.bmm(scores.softmax(dim=-1), values)


torch.manual_seed(0)
query, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
is_padding = torch.tensor([[False, False, False, True, True], [False, False, False, False, True]])
result = attend(query, memory, memory, is_padding)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def attend(query, keys, values, is_padding):
    scores = torch.bmm(query, keys.transpose(1, 2))
    scores = scores.masked_fill(is_padding.unsqueeze(1), float("-inf"))
    return torch.bmm(scores.softmax(dim=-1), values)


torch.manual_seed(0)
query, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
is_padding = torch.tensor([[False, False, False, True, True], [False, False, False, False, True]])
result = attend(query, memory, memory, is_padding)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: assigns the result to what the method is called of.",
    kind="silent",
)
