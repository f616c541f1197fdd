"""SD404 mask-after-softmax."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis
from shapedoc.core.span import Span
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Float, Int, Tensor, Value
from shapedoc.rules.reading.contractions import names, reduced_axes, tensor_operands
from shapedoc.rules.reading.flow import KEEPS, SHAPING, Graph, graph, shape_at
from shapedoc.rules.reading.softmaxes import Softmax, denominator, holds, softmaxes
from shapedoc.rules.reading.weight_masks import is_called_mask, runs_along_keys
from shapedoc.rules.reading.weights import followed
from shapedoc.rules.reading.wording import call_labels, finding, label, named, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_FILLS = names("masked_fill where masked_scatter")
_AGAIN = names("softmax Softmax.forward normalize log_softmax")
_LOW = -1e3
_SUMS = names("sum mean nansum count_nonzero")
_CHOICES = names("max argmax topk sort argsort multinomial")


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    tidied: set[Span] = set()
    found: list[Finding] = []
    for softmax in softmaxes(trace):
        if softmax.kind == "sum":
            continue
        masked = _masked_before(g, softmax)
        for user, current in followed(g, softmax):
            fault = _fault(g, softmax, user, current)
            if fault is None or _normalised_again(g, user) or _only_chosen_from(g, user):
                continue
            if _only_summed_beside(g, softmax, user):
                continue
            if fault[1] == "warning" and masked:
                tidied.add(user.span)  # the second mask only tidies up, in the other branch as well
            else:
                found.append(_found(trace, softmax, user, *fault))
    yield from (f for f in found if f.severity == "error" or f.span not in tidied)


def _fault(g: Graph, softmax: Softmax, user: Event, current: Event) -> tuple[Operand | None, Severity, str] | None:
    """The mask, how grave it is, and with what the weights are filled, where a use of weights masks them."""
    if user.short in _FILLS:
        value = _filled(user, current)
        mask = user.operand("mask") or user.operand("condition")
        if value is None:
            return None
        if value <= _LOW:
            return mask, "error", "-inf" if value == float("-inf") else f"{value:g}"
        if value != 0 or mask is None or not runs_along_keys(g, softmax, user, mask):
            return None
        return mask, "warning", "0"
    if user.short == "mul":
        mask = next((o for o in tensor_operands(user) if g.producer(o.value) is not current), None)
        if mask is None or not is_called_mask(g, mask) or not runs_along_keys(g, softmax, user, mask):
            return None
        return None if _weighs(user, mask) else (mask, "warning", "0")
    return None


def _weighs(user: Event, mask: Operand) -> bool:
    """Whether the weights have a 1 where the mask has several elements: masks are weighted there."""
    weights = next((shape_at(user, o) for o in tensor_operands(user) if o is not mask), None)
    shape = shape_at(user, mask)
    if weights is None or shape is None:
        return False
    pairs = zip(reversed(weights.suffix), reversed(shape.suffix), strict=False)
    return any(one.dim == ONE != other.dim for one, other in pairs)


def _filled(user: Event, current: Event) -> float | None:
    """The number that masked elements get."""
    for name in ("value", "other", "input", "self"):
        operand = user.operand(name)
        if operand is not None and not (isinstance(operand.value, Tensor) and operand.value.event == current.index):
            number = _number(operand.value)
            if number is not None:
                return number
    return None


def _number(value: Value) -> float | None:
    match value:
        case Float(value=number, known=True):
            return number
        case Int():
            return float(value.dim.const) if value.dim.const is not None else None
        case Tensor(number=number):
            return number
    return None


def _only_chosen_from(g: Graph, user: Event) -> bool:
    """Whether masked weights serve to choose the greatest, or to draw: they need not sum to 1."""
    users = [e for e in g.forward(user, lambda e: e.short in SHAPING) if e.short not in SHAPING]
    return bool(users) and all(e.short in _CHOICES for e in users)


def _only_summed_beside(g: Graph, softmax: Softmax, user: Event) -> bool:
    """Whether masked weights are summed over axes that they are not normalised over, and nothing else: counted.

    Source: Fedus et al. 2021, equations 4 to 6: the share of the tokens that a router sends to each expert.
    """
    axis = softmax.axis
    users = [e for e in g.forward(user, lambda e: e.short in SHAPING) if e.short not in SHAPING]
    return axis is not None and bool(users) and all(_sums_beside(e, axis) for e in users)


def _sums_beside(event: Event, axis: Axis) -> bool:
    shape = shape_at(event, next(iter(tensor_operands(event)), None)) if event.short in _SUMS else None
    summed = reduced_axes(event, shape) if shape is not None else None
    return bool(summed) and not any(holds(a, axis) for a in summed or ())


def _masked_before(g: Graph, softmax: Softmax) -> bool:
    """Whether something was masked or added before the softmax; the second mask then only tidies up."""
    event = g.producer(softmax.scores.value)
    if event is None:
        return False
    for source in g.back(event, lambda e: e.short in KEEPS):
        if source.short in _FILLS or source.short == "masked_fill_":
            return True
        if source.short in ("add", "sub", "mul") and any(is_called_mask(g, o) for o in tensor_operands(source)):
            return True
    return False


def _normalised_again(g: Graph, user: Event) -> bool:
    """Whether the masked weights are made to sum to one again."""
    through = SHAPING | _FILLS | {"add", "mul", "clamp", "nan_to_num"}
    used = [user, *g.forward(user, lambda e: e.short in through)]
    return any(e.short in _AGAIN or denominator(g, e) is not None for e in used) or any(
        d.short == "div" and any(_sums_of(g, o, user) for o in tensor_operands(d)[1:]) for d in used
    )


def _sums_of(g: Graph, operand: Operand, user: Event) -> bool:
    event = g.producer(operand.value)
    return event is not None and any(e is user for e in g.back(event, lambda e: e is not user))


def _found(trace: Trace, softmax: Softmax, user: Event, mask: Operand | None, severity: Severity, fill: str) -> Finding:
    weights, scores = _weights(trace, softmax, user), named(trace, softmax.scores)
    masked = text_of(trace, mask) if mask is not None else "the mask"
    if severity == "error":
        message = f"attention weights are filled with `{fill}` after the softmax"
        why = "after the softmax a weight is a share between 0 and 1: a large negative one becomes part of the sum"
    else:
        message = "attention weights are masked after the softmax and do not sum to 1 any more"
        why = "what the masked keys got in the softmax is lost: the other weights sum to less than 1, by a share that "
        why += "depends on the masked scores"
    return finding(
        trace,
        user,
        None,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=message,
        tensor=weights,
        labels=label(softmax.event.span, f"{weights} is normalised here, before the mask") + call_labels(user),
        why=why,
        help=f'mask the scores before the softmax: `{scores}.masked_fill({_dropped(masked, severity)}, float("-inf"))`',
    )


def _dropped(mask: str, severity: Severity) -> str:
    """The condition for masked_fill, from a mask that multiplied."""
    return mask if severity == "error" or "==" in mask or "~" in mask else f"{mask} == 0"


def _weights(trace: Trace, softmax: Softmax, user: Event) -> str:
    operands = tensor_operands(user)
    return softmax.event.target or (named(trace, operands[0]) if operands else "the weights")


RULE = Rule(
    code="SD404",
    name="mask-after-softmax",
    severity="error",
    summary="Attention weights are masked after the softmax and not normalised again.",
    what="Follows attention weights from the softmax and looks for masks that are applied to them: `-inf` filled into "
    "weights, or weights multiplied with a mask and not divided by their new sum. Masks that were applied to the "
    "scores as well are left alone.",
    why="The softmax has already given the masked keys their share. Set to zero, what is left does not sum to 1; "
    "filled with `-inf`, the context is infinite or NaN.",
    instead="Fill the scores with `-inf` before the softmax, or divide the masked weights by their sum.",
    source="Vaswani et al. 2017, section 3.2.3: masked positions are set to -inf in the input of the softmax.",
    bad=(
        Example(
            """\
import torch


def attend(query, memory, lengths):
    batch_size, T_enc, d_h = memory.shape
    keep = torch.arange(T_enc)[None, :] < lengths[:, None]
    scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=1)
    weights = weights * keep  # <- SD404
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


torch.manual_seed(0)
result = attend(torch.randn(2, 7), torch.randn(2, 5, 7), torch.tensor([5, 3]))
"""
        ),
        Example(
            """\
import torch


def attend(query, memory, padding):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=1)
    weights = weights.masked_fill(padding, float("-inf"))  # <- SD404
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


torch.manual_seed(0)
padding = torch.arange(5)[None, :] >= torch.tensor([5, 3])[:, None]
result = attend(torch.randn(2, 7), torch.randn(2, 5, 7), padding)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def attend(query, memory, lengths):
    batch_size, T_enc, d_h = memory.shape
    keep = torch.arange(T_enc)[None, :] < lengths[:, None]
    scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores.masked_fill(~keep, float("-inf")), dim=1)
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


torch.manual_seed(0)
result = attend(torch.randn(2, 7), torch.randn(2, 5, 7), torch.tensor([5, 3]))
"""
        ),
        Example(
            """\
import torch


def attend(query, memory, padding):
    batch_size, T_enc, d_h = memory.shape
    scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores, dim=1).masked_fill(padding, 0.0)
    weights = weights / weights.sum(dim=1, keepdim=True)
    return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


torch.manual_seed(0)
padding = torch.arange(5)[None, :] >= torch.tensor([5, 3])[:, None]
result = attend(torch.randn(2, 7), torch.randn(2, 5, 7), padding)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: fills the scores before the softmax.",
    kind="silent",
)
