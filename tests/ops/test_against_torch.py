"""Every op and every layer agrees with the library it stands for, on drawn calls, errors included.

The test walks the whole table: an op or a layer without a sample fails it. Samples stand in `tests/ops/samples`, one
module for each module of ops.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module

import pytest

from shapedoc.core.dim import Sym
from shapedoc.core.value import Seq, Tensor
from shapedoc.ops import table
from tests.ops.drawing import Call, Draw, Sample
from tests.ops.oracle import Raised, Shaped, real, real_layer
from tests.ops.subject import Answer, Hidden, answer, contradiction, difference

# Rounds for each name of an op: many for one that has few, and so many at least.
ROUNDS, LEAST = 30, 8
# Ops that say nothing, on purpose.
SILENT = frozenset({"torch.as_strided"})


@lru_cache
def samples(family: str) -> dict[str, Sample]:
    found: dict[str, Sample] = import_module(f"tests.ops.samples.{family}").SAMPLES
    return found


def entries() -> Iterator[tuple[str, tuple[str, ...], str, bool]]:
    """Every entry of the table: the key of its sample, its names, its family, and whether it is a layer."""
    ops, layers = table()
    seen = set()
    for entry in ops.values():
        if entry.name not in seen:
            seen.add(entry.name)
            yield entry.name, entry.names, entry.family, False
    for kind, found in layers.items():
        yield kind, (kind,), found.forward.family, True


ENTRIES = sorted(entries())


@pytest.mark.parametrize(("key", "names", "family", "layer"), ENTRIES, ids=[e[0] for e in ENTRIES])
def test_agrees(key: str, names: tuple[str, ...], family: str, layer: bool) -> None:
    sample = samples(family).get(key)
    assert sample is not None, f"no sample for {key} in tests/ops/samples/{family}.py"
    rounds = max(LEAST, ROUNDS // len(names))
    right = missed = made = silent = 0
    faults: list[str] = []
    for name in names:
        for seed in range(rounds):
            symbols: dict[int, Sym] = {}
            call = sample(Draw(name, seed, symbols))
            result = real_layer(name, call) if layer else real(name, call)
            made += 1
            ours = answer(name, call, layer=layer)
            if isinstance(result, Raised):
                missed += not ours.loud
                if not ours.loud and not ours.unknown:
                    faults.append(f"{shown(name, call)}\n  raises {result.error}\n  but we say {said(ours)}")
                continue
            right += 1
            faults.extend(disagreements(name, call, ours, result, key, "numbers"))
            if call.symbolic:
                named = answer(name, call, symbols, layer=layer)
                silent += named.unknown
                faults.extend(disagreements(name, call, named, result, key, "names"))
    assert not faults, f"{len(faults)} of {made}:\n" + "\n".join(faults[:6])
    assert right, "no call is a right one"
    assert missed <= made * 0.1, f"{missed} of {made} calls raise and are not understood"
    assert key in SILENT or silent <= right * 0.25, f"{silent} of {right} right calls are unknown when sizes have names"


def disagreements(name: str, call: Call, ours: Answer, result: object, key: str, mode: str) -> list[str]:
    """What is wrong with our answer to a call that works."""
    if key in SILENT:
        return []
    if ours.unknown:
        return [] if call.data or mode == "names" else [f"{shown(name, call)} with {mode}\n  is unknown: {said(ours)}"]
    if ours.loud:
        return [f"{shown(name, call)} with {mode}\n  works, but we say {said(ours)}"]
    text = difference(ours, ours.verdict.value, result, data=call.data or mode == "names")
    return [f"{shown(name, call)} with {mode}\n  gives {text}"] if text else []


def shown(name: str, call: Call) -> str:
    parts = [repr(a) for a in call.args] + [f"{k}={v!r}" for k, v in call.kwargs.items()]
    built = ", ".join([*map(repr, call.init), *(f"{k}={v!r}" for k, v in call.options.items())])
    return f"{name}{f'[{built}]' if built else ''}({', '.join(parts)})"


def said(ours: Answer) -> str:
    verdict = ours.verdict
    reason = getattr(verdict, "reason", None) or getattr(verdict, "problems", None) or getattr(verdict.value, "shape", "")
    return f"{type(verdict).__name__}: {reason}"


@pytest.mark.parametrize(("key", "names", "family", "layer"), ENTRIES, ids=[e[0] for e in ENTRIES])
def test_says_nothing_false_of_what_is_hidden(key: str, names: tuple[str, ...], family: str, layer: bool) -> None:
    """Of a call that works, with sizes, leading axes or whole shapes unknown, nothing false is said or learnt."""
    sample = samples(family).get(key)
    assert sample is not None, f"no sample for {key} in tests/ops/samples/{family}.py"
    faults: list[str] = []
    for name in names:
        for seed in range(max(LEAST, ROUNDS // len(names))):
            call = sample(Draw(name, seed, {}))
            result = real_layer(name, call) if layer else real(name, call)
            if isinstance(result, Raised) or call.assumes:
                continue
            hidden = Hidden(f"{name} {seed}")
            ours = answer(name, call, layer=layer, hidden=hidden)
            where = f"{shown(name, call)} of {', '.join(str(t.shape) for t, _ in hidden.tensors)}\n  "
            if ours.loud:
                faults.append(f"{where}works, but we say {said(ours)}")
            for tensor, shape in hidden.tensors:
                text = contradiction(ours, tensor.shape, shape)
                faults.extend([f"{where}teaches {text}"] if text else [])
            text = falsehood(ours, ours.verdict.value, result)
            faults.extend([f"{where}gives {text}"] if text else [])
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:6])


def falsehood(ours: Answer, value: object, theirs: object) -> str:
    """How a value contradicts the real result, or ""."""
    if isinstance(theirs, Shaped):
        return contradiction(ours, value.shape, theirs.shape) if isinstance(value, Tensor) else ""
    if not isinstance(theirs, tuple) or not isinstance(value, Seq):
        return ""
    if value.rest is None and len(value.items) != len(theirs):
        return f"{len(value.items)} results, not {len(theirs)}"
    return next((t for t in (falsehood(ours, v, r) for v, r in zip(value.items, theirs, strict=False)) if t), "")
