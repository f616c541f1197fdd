"""Which axis of its input a module takes for time and which for the batch, and what speaks against that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.axis_names import BATCH
from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Bool, Int, Layer, NoneValue, Seq, Tensor
from shapedoc.rules.reading.blame import build_event, layer_of
from shapedoc.rules.reading.contractions import literal, names
from shapedoc.rules.reading.flow import SHAPING, graph, shape_at
from shapedoc.rules.reading.softmaxes import holds, is_axis, softmaxes
from shapedoc.rules.reading.unbatched import joined_with_state
from shapedoc.rules.reading.weights import uses

__all__ = ["Evidence", "Layout", "evidence", "is_batch_name", "is_mixed_up", "is_time_name", "layouts", "mixed_up"]

_INPUTS = {
    "GRU.forward": "input",
    "LSTM.forward": "input",
    "RNN.forward": "input",
    "MultiheadAttention.forward": "query",
    "TransformerEncoderLayer.forward": "src",
    "TransformerEncoder.forward": "src",
    "TransformerDecoderLayer.forward": "tgt",
    "TransformerDecoder.forward": "tgt",
    "Transformer.forward": "src",
}
_PADDINGS = ("src_key_padding_mask", "tgt_key_padding_mask")
_TURNS = names("transpose t T mT permute swapaxes swapdims")
_LAYOUT = SHAPING | _TURNS | names("eq ne invert logical_not bool to type dropout phi")
_CELLS = names("GRUCell.forward LSTMCell.forward RNNCell.forward")
_TIME = frozenset(
    [
        "t",
        "l",
        "s",
        "seq",
        "seq_len",
        "seqlen",
        "seq_length",
        "sequence_length",
        "length",
        "src_len",
        "tgt_len",
        "trg_len",
        "source_len",
        "target_len",
        "t_enc",
        "t_dec",
        "max_len",
        "n_steps",
        "steps",
        "time",
        "timesteps",
        "n_tokens",
        "n_words",
        "n_positions",
        "src_length",
        "tgt_length",
        "block_size",
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A module's call: the input, which of its first two axes is time and which the batch, and who said so.

    layer: the one that was built with or without `batch_first`. explicit: whether the author wrote it there.
    """

    event: Event
    layer: Layer
    input: Operand
    time: Axis
    batch: Axis
    first: bool
    explicit: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks against a layout: an event, in words, and how much it weighs."""

    event: Event
    text: str
    weight: int


def is_batch_name(sizes: Sizes, axis: Axis) -> bool:
    """Whether the author calls an axis the batch."""
    sym = sizes.resolve(axis.dim).sym
    return sym is not None and sym.name.lower() in BATCH


def is_time_name(sizes: Sizes, axis: Axis) -> bool:
    """Whether the author calls an axis a length or a time."""
    sym = sizes.resolve(axis.dim).sym
    return sym is not None and sym.name.lower() in _TIME


@lru_cache(maxsize=2)
def mixed_up(trace: Trace) -> dict[Span, tuple[int, Layout, tuple[Evidence, ...]]]:
    """The modules that take the batch for time, by where they are built: the call that shows it best, and by what."""
    best: dict[Span, tuple[int, Layout, tuple[Evidence, ...]]] = {}
    for layout in layouts(trace):
        against = tuple(evidence(trace, layout))
        weight = sum(e.weight for e in against)
        if _mask_is_turned(trace, layout):
            continue
        if weight >= 2 and not layout.layer.span.path and weight > best.get(layout.layer.span, (0,))[0]:
            best[layout.layer.span] = (weight, layout, against)
    return best


def _mask_is_turned(trace: Trace, layout: Layout) -> bool:
    """Whether the mask of padding is turned round on its way to a module that takes time first, and the input is not.

    That mask is (batch, time) always: who turns it has tokens that are (time, batch), whatever their axes are called.
    """
    g = graph(trace)
    made = [g.producer(layout.event.value(n)) for n in ("key_padding_mask", *_PADDINGS) if layout.event.operand(n)]
    source = g.producer(layout.input.value)
    turned = any(e is not None and any(_turns(b) for b in g.back(e, _is_layout)) for e in made)
    return turned and not layout.first and (source is None or not any(_turns(b) for b in g.back(source, _is_layout)))


def _is_layout(event: Event) -> bool:
    return event.short in _LAYOUT


def _turns(event: Event) -> bool:
    return event.short in _TURNS


def is_mixed_up(trace: Trace, event: Event) -> bool:
    """Whether an event calls a module that takes the batch for time: what else does not fit there comes of that."""
    layer = layer_of(event) if event.short in _INPUTS else None
    return layer is not None and _deciding(layer).span in mixed_up(trace)


@lru_cache(maxsize=2)
def layouts(trace: Trace) -> tuple[Layout, ...]:
    """Every call of a module that has a layout, on an input with three axes."""
    return tuple(found for event in trace.events if (found := _layout(trace, event)) is not None)


def _layout(trace: Trace, event: Event) -> Layout | None:
    name = _INPUTS.get(event.short)
    operand = event.operand(name) if name else None
    outer = layer_of(event)
    shape = shape_at(event, operand)
    if operand is None or outer is None or shape is None or shape.rank != 3 or _is_packed(trace, operand):
        return None
    layer = _deciding(outer)
    flag = layer.config.get("batch_first")
    if not isinstance(flag, Bool) or flag.value is None:
        return None
    one, two = shape.axes[:2]
    batch, time = (one, two) if flag.value else (two, one)
    built = build_event(trace, layer)
    explicit = built is not None and built.operand("batch_first") is not None
    return Layout(event, layer, operand, time, batch, flag.value, explicit)


def _is_packed(trace: Trace, operand: Operand) -> bool:
    """Whether an operand is a packed sequence, which knows its own layout."""
    made = graph(trace).producer(operand.value)
    return made is not None and made.short in ("pack_padded_sequence", "pack_sequence")


def _deciding(layer: Layer) -> Layer:
    """The layer that a stack repeats."""
    for name in ("encoder_layer", "decoder_layer"):
        inner = layer.config.get(name)
        if isinstance(inner, Layer):
            return inner
    return layer


def evidence(trace: Trace, layout: Layout) -> Iterator[Evidence]:
    """What says that the two axes are the other way round."""
    yield from _from_names(layout)
    yield from _from_modules(trace, layout)
    yield from _from_last(trace, layout)
    yield from _from_masks(layout)
    yield from _from_states(layout)
    yield from _from_attention(trace, layout)
    yield from _from_joins(trace, layout)


def _from_names(layout: Layout) -> Iterator[Evidence]:
    sizes = layout.event.sizes
    if sizes is None:
        return
    wrong_time, wrong_batch = is_batch_name(sizes, layout.time), is_time_name(sizes, layout.batch)
    if wrong_time and not is_batch_name(sizes, layout.batch):
        weight = 2 if wrong_batch or not sizes.resolve(layout.batch.dim).named else 1
        yield Evidence(layout.event, f"its axis {int(layout.first)} is `{sizes.show(layout.time.dim)}`", weight)
    elif wrong_batch and layout.time.dim.const is not None and layout.time.dim.const != 1:
        yield Evidence(layout.event, f"its axis {int(not layout.first)} is `{sizes.show(layout.batch.dim)}`", 1)


def _entry(trace: Trace, event: Event) -> tuple[int, int]:
    return next(((a, b) for _, a, b, _ in trace.entries if a <= event.index < b), (0, 0))


def _from_modules(trace: Trace, layout: Layout) -> Iterator[Evidence]:
    """Other modules of the same walk that take the same axes the other way round."""
    start, stop = _entry(trace, layout.event)
    for other in layouts(trace):
        if not start <= other.event.index < stop or other.layer is layout.layer or other.first == layout.first:
            continue
        if layout.explicit and not other.explicit:
            continue  # The one that was built with the default is the one to doubt.
        if _alike(other.time, layout.batch) and _alike(other.batch, layout.time):
            doubted = not layout.first and (not layout.explicit or _is_fed(trace, layout, other))
            weight = 2 if other.explicit and doubted else 1
            yield Evidence(other.event, f"takes the same axes the other way round, batch_first={other.first}", weight)
            return
    for event in trace.events[start:stop]:
        operand = event.operand("input") if event.short in _CELLS else None
        shape = shape_at(event, operand)
        if shape is not None and shape.rank == 2 and _alike(shape.axes[0], layout.time):
            yield Evidence(event, "takes that axis for the batch", 2)
            return


def _is_fed(trace: Trace, one: Layout, other: Layout) -> bool:
    """Whether what one module made goes into the other."""
    early, late = sorted((one.event, other.event), key=lambda e: e.index)
    return any(e is early for e in graph(trace).back(late, lambda e: e.function == late.function))


def _alike(one: Axis, other: Axis) -> bool:
    return one.same(other) and one.dim.const != 1


def _from_last(trace: Trace, layout: Layout) -> Iterator[Evidence]:
    """``output[:, -1]`` of an output whose axis 1 is the batch: the last step was meant."""
    if layout.event.short not in ("GRU.forward", "LSTM.forward", "RNN.forward") or layout.first:
        return
    for user in graph(trace).users[layout.event.index]:
        index = user.value("index") if user.short == "getitem" else None
        shape = shape_at(user, user.operand("input"))
        if not isinstance(index, Seq) or len(index.items) < 2 or shape is None or shape.rank != 3:
            continue
        last = literal(index.items[1]) == -1 and not isinstance(index.items[0], Int | Tensor)
        if last and shape.axes[1].same(layout.batch):
            yield Evidence(user, "takes the last element of axis 1, as if it were time", 2)
            return


def _from_masks(layout: Layout) -> Iterator[Evidence]:
    """A square mask over the axis that the module takes for the batch."""
    event = layout.event
    for name in ("attn_mask", "src_mask", "tgt_mask", "mask"):
        operand = event.operand(name)
        shape = shape_at(event, operand)
        if operand is None or isinstance(operand.value, NoneValue) or shape is None or shape.rank != 2:
            continue
        sizes = {a.dim for a in shape.axes}
        if len(sizes) == 1 and layout.batch.dim in sizes and layout.time.dim not in sizes and layout.batch.dim.syms:
            yield Evidence(event, "its mask is as long as that axis", 2)
            return


def _from_states(layout: Layout) -> Iterator[Evidence]:
    """An initial state with as many rows as the axis that the module takes for time is long."""
    if any(p.kind == "crossed-layout" for p in layout.event.problems):
        yield Evidence(layout.event, f"its initial state has a row for each element of axis {int(layout.first)}", 2)


def _from_joins(trace: Trace, layout: Layout) -> Iterator[Evidence]:
    """A state of the one example of (B, 1, d) that is joined, row by row, with what the module takes for its steps."""
    join = joined_with_state(trace, layout.event) if layout.batch.visible and not layout.first else None
    if join is not None:
        yield Evidence(join, "joins its rows with the state, of which there is one", 2)


def _from_attention(trace: Trace, layout: Layout) -> Iterator[Evidence]:
    """Weights that are normalised along the axis that the module takes for the batch, a product or mean of it."""
    start, stop = _entry(trace, layout.event)
    for softmax in softmaxes(trace):
        index = softmax.event.index
        explicit = start <= index < stop and not softmax.implicit
        axis = softmax.axis
        if not explicit or axis is None or not _is_only(axis, layout.batch, layout.time):
            continue
        # Weights over another axis than the one that is summed are at fault themselves.
        if any(holds(s, axis) for use in uses(graph(trace), softmax) for s in use.summed):
            yield Evidence(softmax.event, "normalises attention along the axis that it takes for the batch", 2)
            return
    for event in trace.events[layout.event.index + 1 : stop]:
        shape = shape_at(event, event.operand("input"))
        if shape is None or shape.rank != 3:
            continue
        if event.short == "bmm" and _is_only(shape.axes[0], layout.time, layout.batch):
            yield Evidence(event, "takes that axis for the batch", 2)
            return
        if _pools(event) and _is_only(shape.axes[1], layout.batch, layout.time) and _made_by(trace, layout, event):
            yield Evidence(event, "pools over the axis that it takes for the batch", 2)
            return


def _is_only(axis: Axis, one: Axis, other: Axis) -> bool:
    """Whether an axis is what became of `one`, and `other` was not mixed into it."""
    return is_axis(axis, one) and not is_axis(axis, other)


def _pools(event: Event) -> bool:
    return event.short in ("mean", "max", "amax") and literal(event.value("dim")) == 1


def _made_by(trace: Trace, layout: Layout, event: Event) -> bool:
    made = graph(trace).producer(event.value("input"))
    return made is layout.event
