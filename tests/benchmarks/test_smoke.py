"""The benchmarks run."""

import subprocess
import sys
from pathlib import Path

from tests.benchmarks.linting import drawn, measure


def test_the_benchmark_runs() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.overhead", "--smoke"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True, timeout=300
    )
    assert "x bare" in done.stdout
    assert "one jaxtyped call" in done.stdout


def test_the_linter_is_measured_beside_libcst(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import torch\n\nx = torch.zeros(2, 3) + 1\n", encoding="utf-8")
    (time,) = measure(drawn(tmp_path, 2, 0), 1)
    assert (time.lines, time.linter > 0, time.parser > 0) == (3, True, True)
