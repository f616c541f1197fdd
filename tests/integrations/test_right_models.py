"""The right models of fixtures/ under `check`, decorated throughout: nothing is told and nothing changes."""

import warnings
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import shapedoc
from fixtures import exhibit
from shapedoc.integrations import watched

RUNS = exhibit.runs()
RIGHT = [(key, entry) for key, entries in RUNS.items() if key.startswith("correct/") for entry in entries]


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    watched._told.clear()
    yield
    watched._told.clear()


def ran(key: str, expression: str, *, checked: bool) -> list[Any]:
    """The arrays that three runs give: a new signature, a look-up, and a look-up again."""
    path = exhibit.ROOT / key
    torch.manual_seed(0)
    module: ModuleType = exhibit.execute(path.read_text(encoding="utf-8"), path)
    for name, value in list(vars(module).items()) if checked else ():
        if isinstance(value, FunctionType | type) and value.__module__ == module.__name__:
            setattr(module, name, shapedoc.check(value))
    return [array for _ in range(3) for array in exhibit.arrays(exhibit.run(module, expression))]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("key", "entry"), RIGHT)
def test_a_right_model_is_silent_and_gives_what_it_gives(key: str, entry: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = ran(key, RUNS[key][entry], checked=False)
        given = ran(key, RUNS[key][entry], checked=True)
    assert [(code, line) for code, _, line, _ in watched._told] == []
    assert len(given) == len(wanted)
    for ours, theirs in zip(given, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
