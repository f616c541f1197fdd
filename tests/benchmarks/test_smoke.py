"""The benchmarks run."""

import subprocess
import sys
from pathlib import Path


def test_the_benchmark_runs() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.overhead", "--smoke"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True, timeout=300
    )
    assert "x bare" in done.stdout
    assert "one jaxtyped call" in done.stdout
