"""The linter beside `libcst.parse_module` of the same files, in one process and without a cache.

`python -m tests.benchmarks.linting DIR [--files N] [--seed N] [--rounds N] [--slowest N]`: N files that name a tensor
library, drawn at random. Processor time, file by file in turn, the least of several rounds: trust the ratios.
``SHAPEDOC_PEERS`` names a Python that has TorchFix and torchshapeflow: they and `shapedoc lint` run as whole processes.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst

from shapedoc.engine.analysis import study
from shapedoc.engine.garbage import collecting_seldom
from shapedoc.engine.request import Settings
from shapedoc.source.read import names_tensor_library

__all__ = ["Times", "drawn", "measure", "whole_runs"]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that one file took, and how long it is."""

    path: Path
    lines: int
    linter: float
    parser: float


def drawn(folder: Path, files: int, seed: int) -> list[Path]:
    """Files under a folder that the linter would read and both can parse, so many of them, drawn at random."""
    every = sorted(path for path in folder.rglob("*.py") if names_tensor_library(path.read_bytes()))
    random.Random(seed).shuffle(every)
    chosen: list[Path] = []
    for path in every:
        if len(chosen) == files:
            break
        try:
            libcst.parse_module(path.read_text(encoding="utf-8"))
        except (libcst.ParserSyntaxError, UnicodeDecodeError):
            continue
        chosen.append(path)
    return chosen


def measure(paths: Sequence[Path], rounds: int) -> list[Times]:
    """Both on every file, in turn."""
    settings = Settings(roots=())
    texts = [path.read_text(encoding="utf-8") for path in paths]
    best = [[float("inf")] * 2 for _ in paths]
    with collecting_seldom() as collect:
        for turn in range(rounds):
            for path, text, least in zip(paths, texts, best, strict=True):
                text += f"\n# {turn}\n"  # what has been lowered is kept by its text
                least[0] = min(least[0], _taken(lambda p=path, t=text: study(str(p), t, settings)))  # type: ignore[misc]
                collect()
                least[1] = min(least[1], _taken(lambda t=text: libcst.parse_module(t)))  # type: ignore[misc]
    return [Times(p, t.count("\n"), *least) for p, t, least in zip(paths, texts, best, strict=True)]


def _taken(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def whole_runs(paths: Sequence[Path], python: str, rounds: int) -> dict[str, float]:
    """Processor seconds of whole runs over copies of the files, the least of several, each tool in turn."""
    bin_ = Path(python).parent
    commands: dict[str, list[str]] = {
        "shapedoc": [sys.executable, "-m", "shapedoc", "lint", "--no-cache", "--jobs", "1", "."],
        "libcst": [sys.executable, "-c", _PARSE],
        "torchfix": [str(bin_ / "torchfix"), "--select", "ALL", "."],
        "torchshapeflow": [str(bin_ / "tsf"), "check", "."],
    }
    least: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for i, path in enumerate(paths):
            shutil.copy(path, Path(folder) / f"{i}_{path.name}")
        for _ in range(rounds):
            for name, command in commands.items():
                if Path(command[0]).exists():
                    least[name] = min(least.get(name, float("inf")), _whole_run(command, folder))
    return least


_PARSE = "import libcst, pathlib\nfor p in sorted(pathlib.Path('.').glob('*.py')): libcst.parse_module(p.read_bytes())"


def _whole_run(command: Sequence[str], folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slowest", type=int, default=0)
    options = parser.parse_args(arguments)
    paths = drawn(options.folder, options.files, options.seed)
    times = measure(paths, options.rounds)
    ours, theirs, lines = (sum(getattr(t, name) for t in times) for name in ("linter", "parser", "lines"))
    ratios = sorted(t.linter / t.parser for t in times)
    print(
        f"{len(times)} files, {lines} lines: {ours / theirs:.2f} times libcst.parse_module"
        f" ({ours:.2f} s, {theirs:.2f} s); half of the files under {ratios[len(ratios) // 2]:.2f}"
    )
    for t in sorted(times, key=lambda t: -t.linter)[: options.slowest]:
        print(f"{t.linter:7.3f} s {t.linter / t.parser:5.1f} times, {t.lines:5} lines {t.path}")
    if python := os.environ.get("SHAPEDOC_PEERS"):
        for name, seconds in whole_runs(paths, python, options.rounds).items():
            print(f"whole run of {name:14} {seconds:6.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
