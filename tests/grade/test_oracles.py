"""The oracles give what torch gives, and every mistake of theirs is one."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import numpy as np
import pytest
import torch

from shapedoc.grade.assignment import load
from shapedoc.grade.comparing import close
from shapedoc.grade.draws import Drawn, generator
from shapedoc.grade.oracles import ORACLES, Oracle
from shapedoc.grade.properties.asking import recipe_of

DRAWS = [
    (assignment, name)
    for assignment in ("masked-softmax", "multi-head-general", "scorers")
    for name in load(assignment).settings["draws"]
    if name != "indivisible"
]


def draw(assignment: str, name: str) -> dict[str, object]:
    """A draw of an assignment, as its file has it."""
    return dict(cast("dict[str, object]", load(assignment).settings["draws"][name]))


def drawn(assignment: str, name: str) -> tuple[str, Oracle, list[Drawn]]:
    """The function, the oracle and inputs of a draw of an assignment, float64."""
    parameters = {**draw(assignment, name), "dtype": "float64"}
    rng = generator(3, name, "oracles")
    inputs = [one for _ in range(4) for one in recipe_of(parameters).draw(rng)]
    return str(parameters["function"]), ORACLES[str(parameters["expected"])], inputs


@pytest.mark.parametrize(("assignment", "name"), DRAWS)
def test_an_oracle_agrees_with_the_reference(assignment: str, name: str) -> None:
    function, oracle, inputs = drawn(assignment, name)
    module = ModuleType("reference")
    exec(load(assignment).reference, module.__dict__)
    for one in inputs:
        wrap = np.asarray if assignment == "scorers" else torch.from_numpy
        given = [wrap(v) if isinstance(v, np.ndarray) else v for v in one.inputs.values()]
        got = getattr(module, function)(*given)
        results = got if isinstance(got, tuple) else (got,)
        right = oracle.right(one.inputs)
        assert len(results) == len(right)
        assert all(close(np.asarray(a), b, 1e-9) for a, b in zip(results, right, strict=True))


@pytest.mark.parametrize(("assignment", "name"), DRAWS)
def test_a_mistake_differs_from_what_is_right(assignment: str, name: str) -> None:
    """Somewhere among some inputs; those that need rows without keys, three axes or huge scores are drawn elsewhere."""
    _, oracle, inputs = drawn(assignment, name)
    elsewhere = {"empty-row-nan", "empty-row-uniform", "softmax-overflows", "heads-do-not-divide"}
    if name == "steps":
        elsewhere |= {"softmax-over-queries", "mask-along-queries", "softmax-over-everything"}
    if name == "heads":
        # These run only where sizes are equal that this draw keeps apart; elsewhere they raise.
        elsewhere |= {"projection-missing", "weight-transposed", "values-of-the-query"}
    for mistake in oracle.mistakes:
        assert mistake.name in elsewhere or any(_wrong(oracle, mistake.name, one) for one in inputs), mistake.name


def _wrong(oracle: Oracle, name: str, one: Drawn) -> bool:
    right = oracle.right(one.inputs)
    for mistake in (m for m in oracle.mistakes if m.name == name):
        try:
            with np.errstate(all="ignore"):
                results = mistake.compute(one.inputs)
        except ValueError:
            continue
        if not all(close(np.asarray(a), b, 1e-6) for a, b in zip(results, right, strict=False)):
            return True
    return False


def test_a_submission_has_its_own_inputs() -> None:
    recipe = recipe_of(draw("masked-softmax", "steps"))
    one = recipe.draw(generator(1, "li", "step"))[-1].array("scores")
    again = recipe.draw(generator(1, "li", "step"))[-1].array("scores")
    other = recipe.draw(generator(1, "wang", "step"))[-1].array("scores")
    assert np.array_equal(one, again)
    assert one.shape != other.shape or not np.array_equal(one, other)


@pytest.mark.parametrize(("how", "least"), [("one", 1), ("none", 0), ("varied", 1)])
def test_lengths(how: str, least: int) -> None:
    parameters = {**draw("masked-softmax", "steps"), "lengths": how}
    for seed in range(20):
        for one in recipe_of(parameters).draw(generator(seed, "", "")):
            lengths = one.array("lengths")
            assert least <= lengths.min() < one.sizes["T_enc"]
            assert lengths.max() <= one.sizes["T_enc"]
            if how != "varied":
                assert (lengths == least).any()
