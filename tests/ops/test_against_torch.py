"""Every op and every layer agrees with the library it stands for, on drawn calls, errors included.

The test walks the whole table: an op or a layer without a sample fails it. Samples stand in `tests/ops/samples`, one
module for each module of ops.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module

import pytest

from shapedoc.core.dim import Sym
from shapedoc.core.value import Seq, Tensor
from shapedoc.ops import table
from tests.ops.drawing import Call, Draw, Sample
from tests.ops.oracle import Raised, Result, Shaped, real, real_layer
from tests.ops.subject import Answer, Hidden, answer, contradiction, difference, laid_out

# Rounds for each name of an op: many for one that has few, and so many at least.
ROUNDS, LEAST = 30, 8
# Ops that say nothing, on purpose.
SILENT = frozenset({"torch.as_strided"})
# Whose results may be numbers or, in old code, truth values: the kind of their elements is left open.
OF_ANY_KIND = frozenset({"torch.Tensor.byte"})


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


Drawn = tuple[str, Call, dict[int, Sym], Result]


@cache
def drawn(key: str, names: tuple[str, ...], family: str, layer: bool) -> list[Drawn]:
    """Calls of an op under all its names, with the symbols of their sizes and what really comes out."""
    sample = samples(family).get(key)
    assert sample is not None, f"no sample for {key} in tests/ops/samples/{family}.py"
    calls: list[Drawn] = []
    for name in names:
        for seed in range(max(LEAST, ROUNDS // len(names))):
            symbols: dict[int, Sym] = {}
            call = sample(Draw(name, seed, symbols))
            calls.append((name, call, symbols, real_layer(name, call) if layer else real(name, call)))
    return calls


@pytest.mark.parametrize("entry", ENTRIES, ids=[e[0] for e in ENTRIES])
class TestEntry:
    def test_agrees(self, entry: tuple[str, tuple[str, ...], str, bool]) -> None:
        """It raises where a loud conflict is said, and only there; shapes and kinds are the same.

        So it is with numbers for sizes, and with names.
        """
        key, _, _, layer = entry
        calls = drawn(*entry)
        right = missed = silent = 0
        faults: list[str] = []
        for name, call, symbols, result in calls:
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
        assert not faults, f"{len(faults)} of {len(calls)}:\n" + "\n".join(faults[:6])
        assert right, "no call is a right one"
        assert missed <= len(calls) * 0.1, f"{missed} of {len(calls)} calls raise and are not understood"
        assert key in SILENT or silent <= right * 0.25, f"{silent} of {right} right calls are unknown with names"

    def test_agrees_where_names_have_numbers(self, entry: tuple[str, tuple[str, ...], str, bool]) -> None:
        """As a class that is followed as its driver builds it: sizes have names, and the names have numbers."""
        key, _, _, layer = entry
        faults: list[str] = []
        for name, call, symbols, result in drawn(*entry):
            for number, symbol in symbols.items():
                symbol.value = number
            ours = answer(name, call, symbols, layer=layer)
            if not isinstance(result, Raised):
                faults.extend(disagreements(name, call, ours, result, key, "names"))
            elif not ours.loud and not ours.unknown:
                faults.append(f"{shown(name, call)}\n  raises {result.error}\n  but we say {said(ours)}")
            for symbol in symbols.values():
                symbol.value = None
        assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:6])

    def test_says_nothing_false_of_what_is_hidden(self, entry: tuple[str, tuple[str, ...], str, bool]) -> None:
        """Of a call that works, with sizes, leading axes or shapes unknown, nothing false is said or learnt."""
        layer = entry[3]
        faults: list[str] = []
        for i, (name, call, _, result) in enumerate(drawn(*entry)):
            if isinstance(result, Raised) or call.assumes:
                continue
            hidden = Hidden(f"{name} {i}")
            ours = answer(name, call, layer=layer, hidden=hidden)
            found = [f"works, but we say {said(ours)}"] if ours.loud else []
            taught = [contradiction(ours, tensor.shape, shape) for tensor, shape in hidden.tensors]
            found += [f"teaches {text}" for text in taught if text]
            text = falsehood(ours, ours.verdict.value, result)
            found += [f"gives {text}"] if text else []
            shapes = ", ".join(str(t.shape) for t, _ in hidden.tensors)
            faults += [f"{shown(name, call)} of {shapes}\n  {text}" for text in found]
        assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:6])


def disagreements(name: str, call: Call, ours: Answer, result: object, key: str, mode: str) -> list[str]:
    """What is wrong with our answer to a call that works."""
    if key in SILENT:
        return []
    if ours.unknown:
        return [] if call.data or mode == "names" else [f"{shown(name, call)} with {mode}\n  is unknown: {said(ours)}"]
    if ours.loud:
        return [f"{shown(name, call)} with {mode}\n  works, but we say {said(ours)}"]
    text = difference(ours, ours.verdict.value, result, data=call.data or mode == "names")
    if key in OF_ANY_KIND and text == "kind '', not 'int'":
        return []
    return [f"{shown(name, call)} with {mode}\n  gives {text}"] if text else []


def shown(name: str, call: Call) -> str:
    parts = [repr(a) for a in call.args] + [f"{k}={v!r}" for k, v in call.kwargs.items()]
    built = ", ".join([*map(repr, call.init), *(f"{k}={v!r}" for k, v in call.options.items())])
    return f"{name}{f'[{built}]' if built else ''}({', '.join(parts)})"


def said(ours: Answer) -> str:
    verdict = ours.verdict
    reason = (
        getattr(verdict, "reason", None) or getattr(verdict, "problems", None) or getattr(verdict.value, "shape", "")
    )
    return f"{type(verdict).__name__}: {reason}"


def falsehood(ours: Answer, value: object, theirs: object) -> str:
    """How a value contradicts the real result, or ""."""
    if isinstance(theirs, Shaped):
        if not isinstance(value, Tensor):
            return ""
        return contradiction(ours, value.shape, laid_out(value, theirs.shape))
    if not isinstance(theirs, tuple) or not isinstance(value, Seq):
        return ""
    if value.rest is None and len(value.items) != len(theirs):
        return f"{len(value.items)} results, not {len(theirs)}"
    return next((t for t in (falsehood(ours, v, r) for v, r in zip(value.items, theirs, strict=False)) if t), "")
