"""The lowest versions that the package admits are enough."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _found(python: str) -> object:
    ran = subprocess.run(
        [python, "-W", "error", "-m", "shapedoc", "lint", "--no-cache", "--output-format", "json", "fixtures"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.full
def test_the_lowest_versions_find_the_same(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lowest = [requirement.replace(">=", "==") for requirement in project["dependencies"]]
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", *lowest], check=True)
    assert _found(python) == _found(sys.executable)
