"""One fork server for all tests of grading: importing torch takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shapedoc.grade.jail.client import Jail, sandbox_problem

__all__ = ["jail"]


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    """A jail; the test is skipped where the kernel has none."""
    problem = sandbox_problem()
    if problem is not None:
        pytest.skip(problem)
    with Jail() as running:
        yield running
