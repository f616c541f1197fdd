"""Of a call that works nothing false is said, whatever is hidden of its arguments: shapes, sizes, flags, lists."""

from __future__ import annotations

from random import Random

import pytest

from shapedoc.core.sizes import Sizes
from shapedoc.core.value import EllipsisValue, NoneValue, Tensor, Value
from shapedoc.core.value import Unknown as UnknownValue
from shapedoc.core.verdict import Unknown
from shapedoc.ops import Arguments, evaluate, find
from tests.ops import oracle, subject
from tests.ops.test_against_torch import ENTRIES, drawn, falsehood, said, shown

FUNCTIONS = [entry for entry in ENTRIES if not entry[3]]


@pytest.mark.parametrize("entry", FUNCTIONS, ids=[e[0] for e in FUNCTIONS])
def test_says_nothing_false_of_unknown_arguments(entry: tuple[str, tuple[str, ...], str, bool]) -> None:
    for i, (name, call, _, result) in enumerate(drawn(*entry)):
        if isinstance(result, oracle.Raised) or call.assumes:
            continue
        op = find(name)
        assert op is not None
        random, hidden = Random(f"{name} {i}"), subject.Hidden(f"{name} {i}")
        numpy = name.startswith(("numpy.", "scipy."))
        positional = [veiled(subject.veiled(v, hidden), random) for v in subject.values(call.args, numpy=numpy)]
        keywords = {
            k: veiled(subject.veiled(v, hidden), random) for k, v in subject.named(call.kwargs, numpy=numpy).items()
        }
        sizes = Sizes()
        verdict = evaluate(op, Arguments(positional, keywords), sizes, 1).verdict
        ours = subject.Answer(verdict, sizes, hidden.numbers)
        what = f"{shown(name, call)} of {positional} {keywords}"
        assert not ours.loud, f"{what} works, but we say {said(ours)}"
        if not isinstance(verdict, Unknown):
            text = falsehood(ours, verdict.value, result)
            assert not text, f"{what} gives {text}"


def veiled(value: Value, random: Random) -> Value:
    """Now and then a value of which nothing is known; tensors are hidden elsewhere, None is left as it is."""
    if isinstance(value, Tensor | NoneValue | EllipsisValue) or random.random() < 0.5:
        return value
    return UnknownValue("hidden")
