"""SD401 softmax-over-wrong-axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from shapedoc.core.dim import ONE
from shapedoc.core.finding import Finding
from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.attention.codes import are_of_codes
from shapedoc.rules.attention.ones import maker_of_one
from shapedoc.rules.attention.reverse import Turned, weights_behind
from shapedoc.rules.attention.sampled import LAST, Misdrawn, misdrawn
from shapedoc.rules.reading.attention import both_have, score_of
from shapedoc.rules.reading.flow import Graph, axis_at, graph, result_shape
from shapedoc.rules.reading.layouts import is_batch_name
from shapedoc.rules.reading.softmaxes import Softmax, both_ways, is_axis, is_renormalised, softmaxes
from shapedoc.rules.reading.weights import Use, is_right, uses, wrong_use
from shapedoc.rules.reading.wording import call_labels, finding, label, made_by, named, shape_text
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    g = graph(trace)
    drawn = {picked.event.index: picked for picked in misdrawn(trace)}
    for picked in drawn.values():
        yield _not_drawn(trace, picked)
    for softmax in softmaxes(trace):
        if softmax.together and softmax.kind == "exp":
            yield from _over_all(trace, g, softmax)
        if softmax.axis is None:
            yield from _left_of_the_sum(trace, g, softmax)
            continue
        if softmax.implicit or softmax.axis.visible:
            continue
        if softmax.axis.dim == ONE and maker_of_one(g, softmax) is not None:
            continue
        if both_ways(g, softmax) or is_renormalised(g, softmax):
            continue
        found = list(uses(g, softmax))
        if any(is_right(u, softmax.axis) for u in found):
            continue
        wrong = next(((u, summed) for u in found if (summed := wrong_use(softmax, u)) is not None), None)
        if wrong is not None and not are_of_codes(g, softmax, wrong[0]):
            yield _over_another(trace, softmax, *wrong)
        elif not found and softmax.kind == "softmax" and softmax.event.index not in drawn and softmax.axis.dim != ONE:
            over = list(_over_batch(trace, g, softmax))
            yield from over or _over_examples(trace, g, softmax)
    told: set[Span] = set()
    for softmax, turned in weights_behind(trace):
        if turned.context.span not in told:
            told.add(turned.context.span)
            yield _behind(trace, softmax, turned)


def _over_all(trace: Trace, g: Graph, softmax: Softmax) -> Iterator[Finding]:
    """Several axes are normalised at once, and the weights are summed over some of them and keep another."""
    event, shape = softmax.event, softmax.shape
    at_once = [a for a in softmax.together if a.dim != ONE]
    for use in uses(g, softmax):
        summed = [a for a in at_once if any(is_axis(s, a) for s in use.summed)]
        kept = [a for a in at_once if any(is_axis(k, a) for k in use.kept)]
        if not summed or not kept or shape is None or event.sizes is None:
            continue
        name, sizes = named(trace, softmax.scores), event.sizes
        kept = [a for a in kept if "?" not in sizes.show(a.dim)]  # of what has no name nothing says that it is not 1
        if not kept:
            continue
        over, left = (", ".join(f"`{sizes.show(a.dim)}`" for a in axes) for axes in (at_once, kept))
        yield finding(
            trace,
            event,
            softmax.place,
            code=RULE.code,
            name=RULE.name,
            severity="error",
            message=f"softmax over {over} of {name} at once: the weights of all {left} together sum to 1",
            tensor=name,
            actual=shape_text(event, shape),
            labels=label(use.event.span, f"summed over `{sizes.show(summed[0].dim)}` alone") + call_labels(event),
            why="attention weights are shares of what they are summed with: those of one query sum to 1 over the keys",
            help="normalise one axis: `axis=-1, keepdims=True` for the maximum and for the sum",
        )
        return


def _left_of_the_sum(trace: Trace, g: Graph, softmax: Softmax) -> Iterator[Finding]:
    """A softmax over an axis that is counted from the left, of scores of which only the last axes are known.

    However many axes stand before those, the product sums one that lies further to the right.
    """
    shape, number = softmax.shape, softmax.number
    if shape is None or shape.run != 0 or number is None or number < 0 or both_ways(g, softmax):
        return
    later = shape.suffix[number + 1 :]
    for use in uses(g, softmax):
        summed = next((a for a in later if a.dim != ONE and any(is_axis(s, a) for s in use.summed)), None)
        if use.how == "product" and summed is not None:
            yield _over_another(trace, softmax, use, summed)
            return


def _over_another(trace: Trace, softmax: Softmax, use: Use, summed: Axis) -> Finding:
    event, axis = softmax.event, softmax.axis
    sizes = event.sizes
    assert sizes is not None
    name = named(trace, softmax.scores)
    shape = shape_text(event, softmax.scores.shape)
    ours, right = sizes.show(axis.dim) if axis is not None else "?", sizes.show(summed.dim)
    position, normalised = _position(softmax, summed), softmax.number if axis is None else _position(softmax, axis)
    values = named(trace, use.values)
    where = "product with" if use.how == "product" else "sum over"
    title = f"softmax over axis {normalised} of {name}, but the weights are summed over axis {position}"
    if ours != right and "?" not in ours + right:
        title = f"softmax over `{ours}` of {name}, but the weights are summed over `{right}`"
    first = f"`{ours}`" if "?" not in ours else f"axis {normalised}"
    second = f"`{right}`" if "?" not in right else f"axis {position}"
    return finding(
        trace,
        event,
        softmax.place,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=title,
        tensor=name,
        actual=shape,
        labels=label(event.span, f"{first} is normalised")
        + label(use.event.span, f"the {where} {values} sums over {second}")
        + (made_by(trace, softmax.scores.value, event, name) if isinstance(softmax.scores.value, Tensor) else ())
        + call_labels(event),
        why="attention weights are shares of what they are summed with: for every query they sum to 1 over the keys",
        notes=(f"with this axis the weights of one query do not sum to 1: they are shared among {first}",),
        help=f"normalise the axis that is summed: `dim={position - _rank(softmax)}`",
    )


def _behind(trace: Trace, softmax: Softmax, found: Turned) -> Finding:
    """Weights that stand on the right of the values, of which not even the rank is known."""
    weights, values = (named(trace, o) for o in (found.context.operands[1], found.values))
    return finding(
        trace,
        found.context,
        None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"the softmax is over the last axis, but {weights} on the right is summed over the one before it",
        tensor=weights,
        labels=label(softmax.event.span, "the keys are normalised")
        + label(found.scores.span, f"they are the last axis of the scores: {named(trace, found.right)}")
        + call_labels(found.context),
        why="attention weights are shares of what they are summed with: for every query they sum to 1 over the keys",
        help=f"write the weights first: `{weights} @ {values}`",
    )


def _rank(softmax: Softmax) -> int:
    shape = softmax.shape
    return len(shape.axes) if shape is not None and shape.rank is not None else 0


def _position(softmax: Softmax, axis: Axis) -> int:
    shape = softmax.shape
    assert shape is not None
    found = next(i for i, a in enumerate(shape.axes) if a.ids <= axis.ids and is_axis(axis, a))
    return found if shape.run is None else found - len(shape.axes)


def _not_drawn(trace: Trace, drawn: Misdrawn) -> Finding:
    event, shape, picked = drawn.event, result_shape(drawn.event), drawn.picked
    assert event.sizes is not None
    assert shape is not None
    name = named(trace, drawn.scores)
    sizes = [axis_at(shape, n) for n in (drawn.number, drawn.along)]
    ours, right = (event.sizes.show(axis.dim) if axis is not None else "?" for axis in sizes)
    over = f" (`{ours}`)" if "?" not in ours else ""
    draws = picked.short in LAST
    last = "the last axis" if drawn.along == -1 else f"axis {drawn.along}"
    return finding(
        trace,
        event,
        drawn.place,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"softmax over axis {drawn.number}{over} of {name}, but it is drawn along {last}",
        tensor=name,
        actual=shape_text(event, drawn.scores.shape) if drawn.scores.shape is not None else "",
        labels=label(picked.span, f"draws one of `{right}`" if draws else f"`{picked.short}` picks along {last}")
        + call_labels(event),
        why=f"`{picked.short}` takes the last axis for the probabilities of one draw, so that they "
        "must sum to 1 over it"
        if draws
        else "what is picked from must be comparable: probabilities that sum to 1 over the axis that is picked along",
        help=f"normalise the axis that is drawn from: `dim={drawn.along}`",
    )


def _over_batch(trace: Trace, g: Graph, softmax: Softmax) -> Iterator[Finding]:
    """A softmax over the batch whose weights meet no values that one can see."""
    event, axis, shape = softmax.event, softmax.axis, softmax.shape
    if axis is None or shape is None or shape.rank is None or event.sizes is None:
        return
    line = _batch_line(event.sizes, axis)
    others = [a for a in shape.axes if not is_axis(axis, a) and a.dim != ONE]
    if line is None or not others or any(_batch_line(event.sizes, a) is not None for a in others):
        return
    if event.sizes.role(axis, "time") is not None or event.sizes.role(axis, "feature") is not None:
        return
    name, text = named(trace, softmax.scores), shape_text(event, softmax.scores.shape)
    yield finding(
        trace,
        event,
        softmax.place,
        code=RULE.code,
        name=RULE.name,
        severity="warning",
        message=f"softmax over the batch: axis {_position(softmax, axis)} of {name} is `{event.sizes.show(axis.dim)}`",
        tensor=name,
        actual=text,
        labels=call_labels(event),
        why="a softmax over the batch makes every example's result depend on the others",
        notes=(f"line {line} takes the axis for the batch",) if line else (),
        help="normalise the axis of the keys (or of the classes)",
    )


def _over_examples(trace: Trace, g: Graph, softmax: Softmax) -> Iterator[Finding]:
    """A softmax of additive scores over an axis that query and memory have in common, while the keys lie along another.

    What was mapped to one score after the sum is no longer there: such an axis is the batch, or one like it.
    """
    event, axis, shape = softmax.event, softmax.axis, softmax.shape
    if axis is None or shape is None or shape.rank is None or event.sizes is None:
        return
    for keys in shape.axes:
        score = score_of(g, replace(softmax, axis=keys)) if not is_axis(axis, keys) and keys.dim != ONE else None
        if score is None or score.form != "additive" or not score.maps or not both_have(g, score, axis):
            continue
        name, place, along = named(trace, softmax.scores), _position(softmax, axis), _position(softmax, keys)
        memory, query = named(trace, score.memory[0]), named(trace, score.query[0])
        yield finding(
            trace,
            event,
            softmax.place,
            code=RULE.code,
            name=RULE.name,
            severity="error",
            message=f"softmax over axis {place} of {name}, which {query} and {memory} have in common: the keys lie "
            f"along axis {along}",
            tensor=name,
            actual=shape_text(event, softmax.scores.shape),
            labels=label(score.memory[0].span, f"{memory} differs from key to key") + call_labels(event),
            why="attention weights are shares among the keys of one query: here examples get shares of each other",
            help=f"normalise the axis of the keys: `dim={along}`",
        )
        return


def _batch_line(sizes: Sizes, axis: Axis) -> int | None:
    """The line that takes an axis for the batch: of a recurrent module, of a batched product, or that calls it so."""
    line = sizes.role(axis, "batch")
    if line is None:
        line = sizes.role(axis, "batched")
    sym = sizes.resolve(axis.dim).sym
    return sym.line if line is None and sym is not None and is_batch_name(sizes, axis) else line


RULE = Rule(
    code="SD401",
    name="softmax-over-wrong-axis",
    severity="error",
    summary="The softmax normalises another axis than the one that the weights are summed over.",
    what="Follows attention weights from the softmax to the product or sum in which they meet the values, and compares "
    "the axis that was normalised with the one that is summed. Softmaxes written out with `exp` and a division are "
    "followed too. No axis number is right or wrong by itself.",
    why="Weights are shares: for every query they sum to 1 over the keys. Normalised over the batch, the heads or the "
    "queries, they are as large as the number of keys allows, and examples or queries compete with each other. Nothing "
    "raises, the shapes are the same.",
    instead="Normalise the axis of the keys, the one that the product with the values sums over.",
    source="Bahdanau et al. 2015, equation 6; Vaswani et al. 2017, equation 1.",
    bad=(
        Example(
            """\
import math

import torch
import torch.nn.functional as F


def attend(query, key, value):
    batch_size, T_dec, d_head = query.shape
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_head)
    weights = F.softmax(scores, dim=1)  # <- SD401
    return weights @ value


torch.manual_seed(0)
memory = torch.randn(2, 3, 7)
result = attend(torch.randn(2, 5, 7), memory, memory)
"""
        ),
        Example(
            """\
import numpy as np


def attend(query, memory):
    scores = memory @ query
    weights = np.exp(scores) / np.exp(scores).sum(axis=0)  # <- SD401
    return np.einsum("bt,btd->bd", weights, memory)


rng = np.random.default_rng(0)
result = attend(rng.normal(size=(7,)), rng.normal(size=(2, 3, 7)))
"""
        ),
    ),
    good=(
        Example(
            """\
import math

import torch
import torch.nn.functional as F


def attend(query, key, value):
    batch_size, T_dec, d_head = query.shape
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_head)
    weights = F.softmax(scores, dim=2)
    return weights @ value


torch.manual_seed(0)
memory = torch.randn(2, 3, 7)
result = attend(torch.randn(2, 5, 7), memory, memory)
"""
        ),
        Example(
            """\
import numpy as np


def attend(query, memory):
    scores = memory @ query
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return np.einsum("bt,btd->bd", weights, memory)


rng = np.random.default_rng(0)
result = attend(rng.normal(size=(7,)), rng.normal(size=(2, 3, 7)))
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: names the axis that is summed.",
    kind="silent",
)
