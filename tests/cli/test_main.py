"""What no file can provoke: interruption, and the tool's own faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.cli import main
from shapedoc.core.prompts import prompt_text
from shapedoc.engine import analysis
from shapedoc.engine.faults import internal_error


def _exit_code(*arguments: str) -> object:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHAPEDOC_DEBUG", raising=False)
    (tmp_path / "model.py").write_text("import torch\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("import torch\n\nx = (\n", encoding="utf-8")
    return "model.py"


def _fail(*arguments: object) -> None:
    raise ZeroDivisionError("nobody\nexpected this")


def test_an_interruption_is_said(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shapedoc.engine.pool.examine", interrupt)
    assert _exit_code("lint", "--no-cache", model) == 130
    assert capsys.readouterr().err == "\nshapedoc: interrupted\n"


def test_a_fault_in_the_analysis_of_one_file_is_said_and_the_run_goes_on(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(analysis, "infer", _fail)
    assert _exit_code("lint", model, "other.py", "--output-format", "concise") == 1
    out, err = capsys.readouterr()
    assert out == "other.py:3:5: error[SD901] the file does not parse: '(' was never closed\nfound 1 error in 1 file\n"
    assert err.startswith("shapedoc: model.py: internal error at shapedoc/engine/analysis.py:")
    assert ": ZeroDivisionError: nobody expected this; this is a fault of shapedoc, not of the code: report it" in err
    assert "Traceback" not in err


def test_a_fault_elsewhere_is_said(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shapedoc.engine.run", _fail)
    assert _exit_code("lint", model) == 2
    assert capsys.readouterr().err.startswith("shapedoc: internal error at shapedoc/cli/lint.py:")


def test_whoever_looks_for_a_fault_gets_all_of_it(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAPEDOC_DEBUG", "1")
    monkeypatch.setattr(analysis, "infer", _fail)
    with pytest.raises(ZeroDivisionError):
        main(["lint", "--no-cache", model])


def test_a_fault_names_its_place_inside_the_package() -> None:
    with pytest.raises(LookupError) as caught:
        prompt_text("nothing")
    assert internal_error(caught.value).startswith("internal error at shapedoc/core/prompts.py:")
