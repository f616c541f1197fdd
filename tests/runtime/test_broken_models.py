"""The models of fixtures/: nothing is found at run time in right ones, and most silent broken ones are told."""

from __future__ import annotations

import pytest

from fixtures import exhibit
from shapedoc.runtime.behave import ContractError
from shapedoc.runtime.recording import Recording, record
from tests.fixtures.test_behaviour import CONTRACTS, outcomes

RUNS = exhibit.runs()
RIGHT = [(key, name) for key, entries in RUNS.items() if key.startswith("correct/") for name in entries]
# Of the silent broken models, the share that recording a run or a contract must tell, without reading the file.
TOLD = 0.95


def watched(key: str, text: str, expression: str) -> Recording:
    """Define a model and run it under the recorder; what it raises is kept."""
    path = exhibit.ROOT / key
    try:
        with record(lambda name: name == str(path)) as recording:
            exhibit.run(exhibit.execute(text, path), expression)
    except Exception:
        return recording
    return recording


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("key", "name"), RIGHT)
def test_a_right_model_is_silent(key: str, name: str) -> None:
    recording = watched(key, (exhibit.ROOT / key).read_text(encoding="utf-8"), RUNS[key][name])
    assert recording.error is None
    assert recording.recorder.faults == 0
    assert [(f.code, f.span.line, f.message) for f in recording.findings() if f.severity != "note"] == []


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_silent_broken_models_are_told() -> None:
    silent = [model for model in exhibit.broken() if model.kind == "silent"]
    missed = [model.path.stem for model in silent if not (_recorded(model) or _behaves_otherwise(model))]
    assert len(missed) <= (1 - TOLD) * len(silent), missed


def _recorded(model: exhibit.Exhibit) -> bool:
    """Whether running it shows the fault; with the sizes of the right model's run some raise, and are explained."""
    entries = RUNS.get(model.key, RUNS[model.right])
    expression = entries.get(model.entry) or RUNS[model.right][model.entry]
    recording = watched(model.key, model.text, expression)
    return bool([f for f in recording.findings() if f.severity != "note"] or recording.explanation())


def _behaves_otherwise(model: exhibit.Exhibit) -> bool:
    if model.right not in CONTRACTS:
        return False
    try:
        return not all(outcomes(exhibit.execute(model.text, model.path), CONTRACTS[model.right]))
    except ContractError:
        return True
