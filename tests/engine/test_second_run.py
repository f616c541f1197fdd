"""A second run with nothing changed: what it must not load, because loading is all that it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LINES = """\
import torch


def attend(query, keys):
    B, T, D = keys.shape
    return torch.softmax(query @ keys, dim=-1)
"""


RUN = """
import sys
from shapedoc.cli import main
try:
    main(["lint", "."])
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded(folder: Path) -> set[str]:
    """The modules that a run over a folder loads."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stderr.split())


def test_a_second_run_loads_neither_interpreter_nor_ops_nor_rules(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'model'\nversion = '1'\n")
    (tmp_path / "model.py").write_text(LINES)
    first, second = loaded(tmp_path), loaded(tmp_path)
    dear = {"shapedoc.infer.entries.walk", "shapedoc.ops.calling.bind", "shapedoc.rules.shapes.sd101", "libcst"}
    assert dear - first == {"libcst"}
    assert not dear & second
