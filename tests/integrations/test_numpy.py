"""NumPy functions under `check`: the fixtures that are silently wrong are told, the right ones are not."""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
import pytest

import shapedoc
from fixtures import exhibit
from shapedoc.integrations import watched

RUNS = exhibit.runs()


def _is_numpy(text: str) -> bool:
    return "import numpy as np" in text and "import torch" not in text


RIGHT = [
    (key, entry)
    for key, entries in RUNS.items()
    if key.startswith("correct/") and _is_numpy((exhibit.ROOT / key).read_text(encoding="utf-8"))
    for entry in entries
]
SILENT = [model for model in exhibit.broken() if model.kind == "silent" and _is_numpy(model.text)]


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    watched._told.clear()
    yield
    watched._told.clear()


def checked(module: ModuleType) -> ModuleType:
    """Every function and class of a module, decorated."""
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType | type) and value.__module__ == module.__name__:
            setattr(module, name, shapedoc.check(value))
    return module


def test_there_are_numpy_models() -> None:
    assert len(RIGHT) >= 6
    assert len(SILENT) >= 4


@pytest.mark.parametrize(("key", "entry"), RIGHT)
def test_a_right_numpy_model_is_silent(key: str, entry: str) -> None:
    path = exhibit.ROOT / key
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exhibit.run(checked(exhibit.execute(path.read_text(encoding="utf-8"), path)), RUNS[key][entry])
    assert watched._told == set()


@pytest.mark.parametrize("model", SILENT, ids=lambda model: model.path.stem)
def test_a_numpy_model_that_is_silently_wrong_is_told(model: exhibit.Exhibit) -> None:
    expression = RUNS.get(model.key, {}).get(model.entry) or RUNS[model.right][model.entry]
    module = checked(exhibit.execute(model.text, model.path))
    notes = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exhibit.run(module, expression)
        except ValueError as problem:  # With the sizes of the right model's run some raise, and are explained.
            notes = problem.__notes__[0]
    told = {line for _, _, line, _ in watched._told} & set(model.marked)
    assert told or f"error[{model.code}]" in notes


def test_a_function_of_no_module_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "alone.py"
    path.write_text(
        "import numpy as np\n\n\ndef attend(query, keys, values):\n"
        '    """query: (T_dec, d), keys: (T_enc, d), values: (T_enc, d_v)"""\n'
        "    scores = np.exp(query @ keys.T)\n"
        "    weights = scores / scores.sum(axis=0, keepdims=True)\n"
        "    return weights @ values\n"
    )
    attend = shapedoc.check(exhibit.execute(path.read_text(encoding="utf-8"), path).attend)
    with pytest.warns(shapedoc.ShapeWarning, match="SD401"):
        attend(np.ones((2, 3)), np.ones((5, 3)), np.ones((5, 4)))


def test_results_are_what_they_are_without_it() -> None:
    def attend(query: np.ndarray, keys: np.ndarray) -> np.ndarray:
        scores = keys @ query
        weights = np.exp(scores - scores.max())
        return np.asarray((weights / weights.sum()) @ keys)

    generator = np.random.default_rng(0)
    query, keys = generator.normal(size=7), generator.normal(size=(5, 7))
    result = shapedoc.check(attend)(query, keys)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, attend(query, keys))


def test_an_error_in_numpy_is_explained_and_keeps_its_type() -> None:
    @shapedoc.check
    def score(query: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return np.asarray(keys @ query)

    with pytest.raises(ValueError, match="matmul") as raised:
        score(np.ones((2, 3)), np.ones((4, 5)))
    (note,) = raised.value.__notes__
    assert "keys" in note
    assert "(4, 5)" in note


def test_torch_is_neither_needed_nor_loaded() -> None:
    program = """\
import sys
if "absent" in sys.argv:
    sys.modules["torch"] = None
import numpy as np
import shapedoc

@shapedoc.check
def attend(query, keys):
    scores = keys @ query
    return np.exp(scores) / np.exp(scores).sum()

@shapedoc.check
def double(number):
    return number * 2

assert attend(np.ones(3), np.ones((4, 3))).shape == (4,)
assert double(4) == 8
try:
    double(None)
except TypeError as problem:
    print(type(problem).__name__)
assert shapedoc.behave(attend.__wrapped__, "query: d, keys: T d -> weights: T")
assert sys.modules.get("torch") is None
"""
    for how in ("absent", "unused"):
        done = subprocess.run([sys.executable, "-c", program, how], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "TypeError\n"), done.stderr
