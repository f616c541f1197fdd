"""All of ``fixtures/broken`` through ``diagnose --verify``: what is offered, whether it is right, what is proved."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fixtures.exhibit import Exhibit, arrays, broken, execute, run, runs
from shapedoc.core.fix import apply_edits
from shapedoc.engine import Settings
from shapedoc.prescribe.attach import fix_of
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.diagnosis import Diagnosis, diagnose

# The tool's own rules speak of no model.
EXHIBITS = [one for one in broken() if not one.code.startswith("SD9")]


def mended(exhibit: Exhibit, bench: Bench, found: list[Diagnosis]) -> str:
    """The text with every fix made that does not want the text of another one."""
    edits: list[Any] = []
    for one in found:
        fix = fix_of(bench.text, one.answer.finding, one.answer)
        new = [edit for edit in fix.edits if edit not in edits] if fix is not None else []
        with contextlib.suppress(ValueError):
            apply_edits(bench.text, [*edits, *new])
            edits += new
    return apply_edits(bench.text, edits)


def numbers(exhibit: Exhibit, text: str) -> Iterator[np.ndarray[Any, Any]]:
    """What the runs of the right model give with the names of a text."""
    table = runs()[exhibit.right]
    with contextlib.redirect_stdout(io.StringIO()):
        module = execute(text, exhibit.path)
        for entry in exhibit.entry.split(","):
            yield from (np.array(one, copy=True) for one in arrays(run(module, table[entry.strip()])))


def alike(one: list[np.ndarray[Any, Any]], other: list[np.ndarray[Any, Any]]) -> bool:
    return len(one) == len(other) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.full
def test_every_broken_model_is_diagnosed(record_property: Callable[[str, object], None]) -> None:
    """Fixes for 80 % of the models, all of them right; tests for 70 % of the findings, all of them proved."""
    offered, wrong, findings, tests, unproved = 0, [], 0, 0, []
    for exhibit in EXHIBITS:
        bench = Bench.of(str(exhibit.path), exhibit.text, Settings())
        found = diagnose(bench, execute=True)
        findings += len(found)
        tests += sum(one.test is not None for one in found)
        unproved += [
            exhibit.path.stem
            for one in found
            if one.test is not None and one.answer.fix is not None and not (one.executed and one.executed.holds)
        ]
        if not any(one.answer.fix is not None for one in found):
            continue
        offered += 1
        if exhibit.kind != "text" and not alike(
            list(numbers(exhibit, exhibit.fixed())), list(numbers(exhibit, mended(exhibit, bench, found)))
        ):
            wrong.append(exhibit.path.stem)
    record_property(
        "measured",
        f"prescribe: a fix for {offered} of {len(EXHIBITS)} broken models, {len(wrong)} wrong; "
        f"tests for {tests} of {findings} findings",
    )
    assert not wrong
    assert not unproved
    assert offered >= 0.8 * len(EXHIBITS)
    assert tests >= 0.7 * findings
