"""`shapedoc run`: the program runs as it is, and what was wrong in it is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

WRONG_AXIS = """\
import sys
import torch

def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=1)
    return weights @ value

print(attend(torch.randn(3, 5, 8), torch.randn(3, 6, 8), torch.randn(3, 6, 8)).shape, sys.argv[1:])
sys.exit(7)
"""
RAISES = """\
import torch

x, w = torch.randn(2, 3), torch.randn(4, 5)
y = torch.tanh(
    x.relu()
    @ w
)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "shapedoc", "run", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_a_silent_fault_is_listed_and_the_exit_code_is_the_programs(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(WRONG_AXIS)
    done = run(tmp_path, "--report", "report.json", "model.py", "--lr", "3")
    assert done.returncode == 7
    assert done.stdout == "torch.Size([3, 5, 8]) ['--lr', '3']\n"
    assert "error[SD401] softmax-over-wrong-axis" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["schema"] == "shapedoc-report/1"
    assert [(f["code"], f["path"], f["line"]) for f in report["findings"]] == [("SD401", "model.py", 5)]


def test_a_crash_is_explained_at_the_sub_expression(tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text(RAISES)
    done = run(tmp_path, "--output-format", "concise", "crash.py")
    assert done.returncode == 1
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)" in done.stderr
    assert "/runtime/watch.py" not in done.stderr
    assert "crash.py:5:5: error[SD101]" in done.stderr


def test_a_module_runs_as_with_python_m(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "layer.py").write_text(WRONG_AXIS.split("print")[0])
    (package / "__main__.py").write_text(
        "import torch\nfrom pack.layer import attend\n\nk = torch.randn(3, 6, 8)\nattend(torch.randn(3, 5, 8), k, k)\n"
    )
    done = run(tmp_path, "--output-format", "concise", "-m", "pack")
    assert done.returncode == 0, done.stderr
    assert "pack/layer.py:5:" in done.stderr
    assert "SD401" in done.stderr


def test_a_script_that_is_not_there_is_a_mistake_of_use(tmp_path: Path) -> None:
    done = run(tmp_path, "nowhere.py")
    assert done.returncode == 2
    assert "there is no file `nowhere.py`" in done.stderr
