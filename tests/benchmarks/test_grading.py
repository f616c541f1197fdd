"""Marking is at least a hundred times as fast as `otter run`, on the same machine in the same run."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from shapedoc.grade.jail.client import sandbox_problem
from tests.benchmarks import grading

_TIMES = 100.0


@pytest.mark.full
def test_marking_beside_otter(record_property: Callable[[str, object], None]) -> None:
    if why := sandbox_problem():
        print(f"SKIPPED: submissions a minute: {why}")
        pytest.skip(why)
    rates = grading.measure(200)
    record_property("measured", f"grade, 200 submissions of exercises 1 and 2 on two cores: {rates}")
    python = os.environ.get("SHAPEDOC_PEERS")
    if not python:
        print("SKIPPED: submissions a minute beside otter: SHAPEDOC_PEERS names no Python")
        pytest.skip("SHAPEDOC_PEERS names no Python")
    otter = grading.otter_a_minute(python, 4)
    record_property(
        "measured",
        f"grade: {rates.marking / otter:.0f} times as many submissions a minute as otter run ({otter:.1f})",
    )
    assert rates.marking >= _TIMES * otter
