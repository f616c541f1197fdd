"""Thirty right modules of public code: nothing is found in them, and the recorder has no faults of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

from shapedoc.runtime.recording import record
from tests.runtime import public_modules


@pytest.mark.parametrize("call", public_modules.CALLS, ids=lambda call: call.__name__)
def test_a_right_module_is_silent(call: Callable[[], object]) -> None:
    with warnings.catch_warnings(), record(lambda path: path == public_modules.__file__) as recording:
        warnings.simplefilter("ignore")  # torch's own, of slow paths
        call()
    assert recording.trace.events
    assert recording.recorder.faults == 0
    assert [(f.code, f.span.line, f.message) for f in recording.findings() if f.severity != "note"] == []


def test_there_are_thirty() -> None:
    assert len(public_modules.CALLS) == 30
