"""SD503 mask-never-used."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Layer, Tensor, Value
from shapedoc.core.written import Function, Parameter
from shapedoc.rules.masks.lost import Lost, lost_masks
from shapedoc.rules.masks.unmasked_steps import UnmaskedStep, unmasked_steps
from shapedoc.rules.masks.unpassed import MASK, maskless_call, not_passed_on
from shapedoc.rules.reading.attention import score_of
from shapedoc.rules.reading.contractions import PRODUCTS, names, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, by_kind, events_of, graph
from shapedoc.rules.reading.masks import Masks, Meaning, masks
from shapedoc.rules.reading.sinks import mask_sinks
from shapedoc.rules.reading.softmaxes import Softmax, softmaxes
from shapedoc.rules.reading.weights import followed
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_MODULES = names(
    "MultiheadAttention.forward TransformerEncoderLayer.forward TransformerDecoderLayer.forward "
    "TransformerEncoder.forward TransformerDecoder.forward Transformer.forward scaled_dot_product_attention"
)
_DECODERS = names("TransformerDecoderLayer.forward TransformerDecoder.forward Transformer.forward")
_WANTED = _MODULES | names("softmax Softmax.forward")
_PARAMETERS = names(
    "attn_mask key_padding_mask src_mask tgt_mask memory_mask mask src_key_padding_mask tgt_key_padding_mask "
    "memory_key_padding_mask"
)


def check(trace: Trace) -> Iterator[Finding]:
    kinds = by_kind(trace)
    yield from _of_the_target(trace)
    yield from {lost.sink.event.span: _thrown_away(trace, lost) for lost in lost_masks(trace)}.values()
    yield from {found.step.span: _unmasked_step(trace, found) for found in unmasked_steps(trace)}.values()
    wanted = {e.function for kind in _WANTED if kind in kinds for e in kinds[kind]}
    if not wanted:
        return
    walked: dict[str, list[Event]] = {}
    callers = {c.function for s in softmaxes(trace) for c in s.event.calls[:-1]} - wanted
    concerned = wanted | callers
    for event in trace.events:
        if event.function in concerned and not event.span.path:
            walked.setdefault(event.function, []).append(event)
    for function in trace.written.functions if walked or callers else ():
        events = walked.get(function.name)
        if not events:
            continue
        ignored = function.ignored(MASK.search)
        if len(ignored) == 1 and _goes_with(function, ignored[0]):
            ignored = []
        if function.name in callers and len(ignored) == 1:
            unpassed = not_passed_on(trace, function, ignored[0])
            if unpassed is not None:
                text = f"normalises scores{unpassed.of} that nothing masks"
                step, aside = "pass it on, and mask the scores with it", ignored[0].name in function.set_aside
                yield _found(trace, unpassed.softmax, ignored[0].span, ignored[0], text, step, aside=aside)
        elif len(ignored) == 1:  # several are there for the sake of a common signature
            yield from _ignored(trace, function, ignored[0], events)
        yield from _built(trace, function, events)


def _goes_with(function: Function, mask: Parameter) -> bool:
    """Whether the sequence that a mask is of is not read either: both are there for the sake of a common signature."""
    owner = mask.name.partition("_")[0]
    beside = function.ignored(lambda name: name.startswith(f"{owner}_") and name != mask.name and "len" not in name)
    return owner != mask.name and bool(beside)


def _thrown_away(trace: Trace, lost: Lost) -> Finding:
    """Scores that are masked, and left for the bare ones."""
    event, mask, scores = lost.sink.event, text_of(trace, lost.sink.mask), text_of(trace, lost.scores)
    again = lost.instead.short.endswith("softmax") or lost.instead.short == "Softmax.forward"
    where = "is normalised here as it was" if again else "is filled here as it was"
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"what is masked here is left for {scores} as it was"
        + (": the softmax sees what the mask hides" if again else ": with both masks, the second undoes the first"),
        tensor=mask,
        labels=label(lost.instead.span, f"{scores} {where}") + call_labels(event),
        why="a fill makes new scores and leaves the old ones alone; what goes on from the old ones is not masked",
        help="go on from what the fill gives",
    )


def _unmasked_step(trace: Trace, found: UnmaskedStep) -> Finding:
    """A decoder that sees the future of what it has written, which it never did in training."""
    event, layer = found.step, found.step.value("self")
    name = layer.name if isinstance(layer, Layer) and layer.name else event.short.removesuffix(".forward")
    return finding(
        trace,
        event,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"`{name}` generates without `{found.argument}`, and is causal elsewhere",
        tensor=found.argument,
        labels=label(found.trained.span, "here it hides the future") + call_labels(event),
        why="the last position may see all that is written, but those before it are made from what follows them, "
        "other than in training: with several layers, the last one sees them so",
        help=f"pass the causal mask of the written length as `{found.argument}` here, too",
    )


def _of_the_target(trace: Trace) -> Iterator[Finding]:
    """The padding of the target, given for the padding of the memory too."""
    seen: set[Span] = set()
    for event in events_of(trace, _DECODERS):
        memory, target = event.operand("memory_key_padding_mask"), event.operand("tgt_key_padding_mask")
        if memory is None or target is None or memory.value is not target.value or event.span in seen:
            continue
        sequence = event.value("memory") or event.value("src")
        if event.span.path or event.value("src_key_padding_mask") is memory.value:
            continue
        of_mask, of_memory = _inputs(trace, memory.value), _inputs(trace, sequence)
        if not of_mask or not of_memory or of_mask & of_memory:
            continue  # it may be the memory's as well
        seen.add(event.span)
        text = text_of(trace, memory)
        yield finding(
            trace,
            event,
            memory.span,
            code=RULE.code,
            name=RULE.name,
            severity="error",
            message=f"{text} hides the target's padding, and is given for the memory's too",
            tensor=text,
            actual=shape_text(event, memory.shape),
            labels=label(target.span, "the same mask"),
            why="cross attention looks at the encoder's positions: its padding is that of the source",
            help="pass the mask that the encoder got as `src_key_padding_mask`",
        )


def _inputs(trace: Trace, value: Value | None) -> set[str]:
    """The arguments of functions that a tensor is made of."""
    g = graph(trace)
    made = g.producer(value)
    operands = (
        [o.value for e in g.back(made, lambda _: True) for o in tensor_operands(e)] if made is not None else [value]
    )
    return {v.source for v in operands if isinstance(v, Tensor) and v.event < 0 and v.source}


def _ignored(trace: Trace, function: Function, parameter: Parameter, events: list[Event]) -> Iterator[Finding]:
    """A mask that is accepted and reaches no score."""
    calls = [e for e in events if e.short in _MODULES]
    bare = [e for e in calls if not _given(e)]
    across = [e for e in bare if _is_across(e)]
    if bare:
        event = (across or bare)[0]
        yield _found(trace, event, event.span, parameter, "is called without a mask", "pass it on")
        return
    shared = _shared(calls)
    if shared is not None:
        event, operand = shared
        text = "gets the mask of another sequence than its keys"
        yield _found(trace, event, operand.span or event.span, parameter, text, f"pass `{parameter.name}` here")
        return
    softmax = _unmasked(trace, events) if not calls else None
    if softmax is not None:
        text = "normalises scores that nothing masks"
        aside = parameter.name in function.set_aside
        help_ = "mask the scores with it"
        yield _found(trace, softmax.event, parameter.span, parameter, text, help_, aside=aside)


def _given(event: Event) -> list[Operand]:
    return [o for o in event.operands if o.name in _PARAMETERS and isinstance(o.value, Tensor)]


def _is_across(event: Event) -> bool:
    """Whether a module attends from one sequence to another."""
    query, key = event.value("query"), event.value("key")
    return query is not None and key is not None and query is not key


def _shared(calls: list[Event]) -> tuple[Event, Operand] | None:
    """A call between two sequences whose padding mask another call uses for other keys."""
    for event in calls:
        mask = event.operand("key_padding_mask")
        if mask is None or not isinstance(mask.value, Tensor) or not _is_across(event):
            continue
        for other in calls:
            same = other.value("key_padding_mask") is mask.value
            if other.span != event.span and same and other.value("key") is not event.value("key"):
                return event, mask
    return None


def _unmasked(trace: Trace, events: list[Event]) -> Softmax | None:
    """A softmax over keys in this function, whose scores nothing masks."""
    g = graph(trace)
    own = {e.index for e in events}
    masked = {s.event.index for s in mask_sinks(trace) if s.how in ("fill", "where")}
    for softmax in softmaxes(trace):
        if softmax.event.index not in own:
            continue
        if not any(user.short in PRODUCTS for user, _ in followed(g, softmax)) and not _is_handed_out(g, softmax):
            continue
        made = g.producer(softmax.scores.value)
        chain = g.back(made, lambda e: e.short in KEEPS) if made is not None else ()
        if not any(e.index in masked or e.short == "masked_fill" for e in chain):
            return softmax
    return None


def _is_handed_out(g: Graph, softmax: Softmax) -> bool:
    """Whether the weights of a query and a memory are what the function gives: its caller sums with them."""
    made = (softmax.event, *g.forward(softmax.event, lambda e: e.short in SHAPING))
    if not any(isinstance(e.result, Tensor) and e.result.uid in g.trace.returned for e in made):
        return False
    score = score_of(g, softmax)
    return score is not None and score.sure and score.form != "linear"


def _found(
    trace: Trace, event: Event, span: Span, parameter: Parameter, text: str, help: str, *, aside: bool = False
) -> Finding:
    """`aside`: the line that used the mask is commented out, so that the author knows."""
    name = event.short.removesuffix(".forward")
    return finding(
        trace,
        event,
        span,
        code=RULE.code,
        name=RULE.name,
        severity="note" if aside else "warning",
        message=f"`{parameter.name}` is accepted and never used, and `{name}` {text}",
        tensor=parameter.name,
        labels=label(parameter.span, "accepted here") + label(event.span, f"`{name}` {text}"),
        why="callers believe that what they mask is hidden; it gets its share of the weights",
        help=help,
    )


def _built(trace: Trace, function: Function, events: list[Event]) -> Iterator[Finding]:
    """A mask that is built and read nowhere."""
    known, seen = masks(trace), set[Span]()
    for event in events:
        meaning = known.made(event)
        if meaning is None or not event.target.isidentifier() or event.span in seen:
            continue
        if event.target in function.contents.reads or graph(trace).users[event.index]:
            continue
        if _has_its_reverse(known, function, event, meaning, events):
            continue  # the one that is used says the same
        seen.add(event.span)
        what = "a causal mask" if meaning.kind == "causal" else "a mask"
        bare = next((e for e in events if e.short in _MODULES and not _given(e)), None)
        call = maskless_call(trace, function) if bare is None else None
        if bare is None and call is None and not any(e.short in _WANTED for e in events):
            continue  # nothing here attends: it is a variable too many
        yield finding(
            trace,
            event,
            call,
            code=RULE.code,
            name=RULE.name,
            severity="note" if event.target in function.set_aside else "warning",
            message=f"`{event.target}` is {what} that reaches no score",
            tensor=event.target,
            labels=label(bare.span, "called without a mask") if bare is not None else label(event.span, "built here"),
            why="what it was to hide is seen: with a causal mask that is missing, the model reads the answer",
            help=f"pass `{event.target}` to the attention",
        )


def _has_its_reverse(known: Masks, function: Function, event: Event, meaning: Meaning, events: list[Event]) -> bool:
    """Whether the function also makes this mask the other way round, of the same tokens, and reads that one."""
    tokens = [o.value for o in tensor_operands(event)]
    for other in events:
        turned = known.made(other) if other.target in function.contents.reads else None
        if turned is None or turned.kind != meaning.kind or turned.sign == meaning.sign:
            continue
        if [o.value for o in tensor_operands(other)] == tokens:
            return True
    return False


RULE = Rule(
    code="SD503",
    name="mask-never-used",
    severity="warning",
    summary="A mask is accepted or built, and reaches no score.",
    what="Looks at functions with attention in them for parameters that are masks by name and are never read, for "
    "masks that are built and never read, for masked scores that are left for the ones before, and for a padding mask "
    "that is given to the attention to two different memories while the other mask lies unused, or to "
    "`nn.Transformer` for the target and for the memory. A decoder of several layers that is causal in one call and "
    "not in the loop that generates is reported, too. Where the line that used the mask is commented out, the finding "
    "is a note: its author knows.",
    why="The caller passes a mask and believes that it works. Nothing raises, and padding or the future is attended "
    "to.",
    instead="Pass the mask on, or take the parameter away.",
    source="PyTorch documentation, torch.nn.MultiheadAttention (key_padding_mask, attn_mask).",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        T = x.size(1)
        future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)  # <- SD503
        return self.attention(x, x, x)[0]


torch.manual_seed(0)
result = Block(6, 2)(torch.randn(2, 4, 6))
"""
        ),
        Example(
            """\
import torch


def attend(query, key, value, mask):  # <- SD503
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    return scores.softmax(dim=-1) @ value


torch.manual_seed(0)
x = torch.randn(2, 4, 6)
result = attend(x, x, x, torch.tensor([True, True, True, False]))
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        T = x.size(1)
        future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
        return self.attention(x, x, x, attn_mask=future)[0]


torch.manual_seed(0)
result = Block(6, 2)(torch.randn(2, 4, 6))
"""
        ),
        Example(
            """\
import torch


def attend(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) @ value


torch.manual_seed(0)
x = torch.randn(2, 4, 6)
result = attend(x, x, x, torch.tensor([True, True, True, False]))
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: passes the mask, or fills the scores with it, where the "
        "callers show what it means."
    ),
    kind="silent",
)
