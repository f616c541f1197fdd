"""All twelve bugs are told by `check`, their twins are silent; the silent ones are also told by `behave`."""

import warnings

import pytest

import shapedoc
from shapedoc.integrations import watched
from tests.integrations.twelve_bugs import BUGS, Bug

CONTRACTS = {
    "softmax over an axis of one": "s_prev: B s, h: B T d, w_a: s a, u_a: d a, v_a: a 1 -> c: B d",
    "mask on the queries": "q: B T d, k: B T d, v: B T d, pad: drop B T -> c: B T d",
    "batch_first forgotten": "x: B T 6, s_prev: B 10 -> c: B 10; ordered T",
    "heads merged without transpose": "q: B H T d, k: B H S d, v: B H S d -> c: B T H*d",
    "no keepdim, batch of one": "q: B T d, k: B T d, v: B T d -> c: B T d",
    "loss of (B, 1) and (B,)": "prediction: B 1, target: B -> loss:",
    "softmax over the queries": "q: B T d, k: B S d, v: B S d -> c: B T d",
}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_check_tells_the_bug_and_not_its_twin(bug: Bug) -> None:
    watched._told.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error", shapedoc.ShapeWarning)
        with pytest.raises((TypeError, RuntimeError, shapedoc.ShapeWarning)) as raised:
            shapedoc.check(bug.wrong)(*bug.arguments())
    told = isinstance(raised.value, shapedoc.ShapeError | shapedoc.ShapeWarning)
    assert told or any("[SD" in note for note in raised.value.__notes__)
    assert isinstance(raised.value, shapedoc.ShapeWarning) == bug.silent
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shapedoc.check(on_finding="raise")(bug.twin)(*(bug.right or bug.arguments)())


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.silent], ids=lambda bug: bug.name)
def test_behave_tells_a_silent_bug_and_not_its_twin(bug: Bug) -> None:
    contract = CONTRACTS[bug.name]
    assert not shapedoc.behave(bug.wrong, contract)
    outcome = shapedoc.behave(bug.twin, contract)
    assert outcome, str(outcome)


def test_seven_are_silent() -> None:
    assert (len(BUGS), sum(bug.silent for bug in BUGS)) == (12, 7)
