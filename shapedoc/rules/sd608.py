"""SD608 unlike-twin."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label
from shapedoc.core.trace import Trace
from shapedoc.rules.rule import Example, Rule
from shapedoc.rules.untwinned import Untwinned, untwinned

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for found in untwinned(trace):
        yield _found(trace, found)


def _found(trace: Trace, found: Untwinned) -> Finding:
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        path=trace.path,
        span=found.value,
        message=f"`{found.name}` is made without the `{found.step}` that its twin has"
        if found.other
        else f"one half of `{found.name}` is made without the `{found.step}` of the other",
        function=found.function,
        tensor=found.name,
        labels=(Label(found.beside, f"`{found.other}` is made alike, with `{found.step}`"),) if found.other else (),
        why="the two are written alike and of operands that are alike: with and without it, one of them has its axes "
        "elsewhere",
        help=f"{found.base}{found.step}",
    )


RULE = Rule(
    code="SD608",
    name="unlike-twin",
    severity="warning",
    summary="Of two statements that are written alike, one lacks a `squeeze`, `unsqueeze`, `permute` or `transpose`.",
    what="Compares the assignments of one block, a dozen lines apart at most, that differ in nothing but names and "
    "one layout step inside of them: `a = f(x_mask.unsqueeze(-1), 0)` beside `b = f(y_mask, 0)`. It reports "
    "the one that lacks the step where both do it to the same value, or to two values that were made alike, "
    "and where the names differ in one word: `encoder_mask` and `decoder_mask`. The same of the two items of "
    "one display: `(f(state[0]).squeeze(0), f(state[1]))`. Queries, keys and values are laid out differently "
    "on purpose, one matrix is used both ways, a step that ends its line makes another value, and operands "
    "that are known to have another number of axes need it or not: all those are left alone.",
    why="What is done to the encoder is done to the decoder, what is done forwards is done backwards. Where one of "
    "them lacks a step, its axes meet others than those of its twin, which broadcasts in silence or fails at another "
    "place.",
    instead="Do to both what is done to one.",
    source="PyTorch documentation, broadcasting semantics.",
    bad=(
        Example(
            """\
import torch


def means(encoder_states, decoder_states, encoder_lengths, decoder_lengths):
    steps = torch.arange(encoder_states.size(1))
    encoder_mask = steps >= encoder_lengths.unsqueeze(1)
    decoder_mask = steps >= decoder_lengths.unsqueeze(1)
    encoder_mean = encoder_states.masked_fill(encoder_mask.unsqueeze(-1), 0.0).mean(dim=1)
    decoder_mean = decoder_states.masked_fill(decoder_mask, 0.0).mean(dim=1)  # <- SD608
    return encoder_mean + decoder_mean


torch.manual_seed(0)
states, lengths = torch.randn(4, 4, 4), torch.tensor([4, 3, 2, 1])
result = means(states, states, lengths, lengths)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch


def means(encoder_states, decoder_states, encoder_lengths, decoder_lengths):
    steps = torch.arange(encoder_states.size(1))
    encoder_mask = steps >= encoder_lengths.unsqueeze(1)
    decoder_mask = steps >= decoder_lengths.unsqueeze(1)
    encoder_mean = encoder_states.masked_fill(encoder_mask.unsqueeze(-1), 0.0).mean(dim=1)
    decoder_mean = decoder_states.masked_fill(decoder_mask.unsqueeze(-1), 0.0).mean(dim=1)
    return encoder_mean + decoder_mean


torch.manual_seed(0)
states, lengths = torch.randn(4, 4, 4), torch.tensor([4, 3, 2, 1])
result = means(states, states, lengths, lengths)
"""
        ),
    ),
    check=check,
    kind="both",
)
