"""Faults in an imported file: told from where they stand, and silenced there or at the call that reaches them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.config import Config
from shapedoc.core.finding import Finding
from shapedoc.engine import Request, run

_LIBRARY = """\
import torch


def score(q, k):
    return q @ k
"""
_DRIVER = """\
import torch
from lib import score

batch_size, T_dec, T_enc, d = 2, 3, 5, 7
query = torch.randn(batch_size, T_dec, d)
memory = torch.randn(batch_size, T_enc, d)
out = score(query, memory)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lib.py").write_text(_LIBRARY)
    (tmp_path / "train.py").write_text(_DRIVER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _found(*paths: str, cache: bool = False) -> list[Finding]:
    return run(Request(tuple(map(Path, paths)), Config(), cache=cache)).findings


def _ignore(path: Path, code: str) -> None:
    text = path.read_text()
    last = text.rstrip("\n")
    path.write_text(f"{last}  # shapedoc: ignore[{code}]\n")


def test_a_fault_elsewhere_and_its_labels_are_spelled_as_the_user_does(project: Path) -> None:
    (finding,) = _found(".")
    assert (finding.code, finding.path, finding.span.line) == ("SD101", "lib.py", 5)
    assert {(label.span.path, label.span.line) for label in finding.labels} == {
        ("train.py", 5),
        ("train.py", 6),
        ("train.py", 7),
    }
    (alone,) = _found("train.py")
    assert (alone.path, alone.labels) == (finding.path, finding.labels)
    (absolute,) = _found(str(project))
    assert absolute.path == str(project / "lib.py")


def test_a_comment_where_it_stands_silences_it_and_is_not_unused(project: Path) -> None:
    _ignore(project / "lib.py", "SD101")
    assert _found(".") == []
    assert _found(".", cache=True) == []
    assert _found(".", cache=True) == []


def test_a_comment_at_the_call_silences_it_too(project: Path) -> None:
    _ignore(project / "train.py", "SD101")
    assert _found(".") == []


def test_a_comment_about_something_else_is_unused(project: Path) -> None:
    _ignore(project / "lib.py", "SD401")
    assert [(finding.code, finding.path) for finding in _found(".")] == [("SD902", "lib.py"), ("SD101", "lib.py")]


def test_a_file_that_is_skipped_is_silent_from_everywhere(project: Path) -> None:
    library = project / "lib.py"
    library.write_text(f"# shapedoc: skip-file\n{_LIBRARY}")
    assert _found(".") == []


def test_a_line_of_the_same_number_in_the_other_file_silences_nothing(project: Path) -> None:
    driver = project / "train.py"
    driver.write_text(_DRIVER.replace("T_dec, d)\n", "T_dec, d)  # shapedoc: ignore[SD101]\n"))
    assert "SD101" in {finding.code for finding in _found(".")}
