"""The tool as a process in a temporary project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["BROKEN", "PYTHON_2", "RIGHT", "WRONG", "Project"]

RIGHT = """\
import torch

batch_size, T_dec, T_enc, d = 2, 3, 5, 7
query = torch.randn(batch_size, T_dec, d)
memory = torch.randn(batch_size, T_enc, d)
scores = query @ memory.transpose(-2, -1)
"""
WRONG = RIGHT.replace(".transpose(-2, -1)", "")
BROKEN = "import torch\n\ndef forward(x:\n    return x\n"
PYTHON_2 = "import numpy\nprint 'attention'\n"


@dataclass(frozen=True)
class Project:
    """A folder with files, and ``shapedoc`` run in it as anybody runs it."""

    folder: Path

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def run(
        self, *arguments: str, stdin: str | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        hidden = ("NO_COLOR", "FORCE_COLOR", "SHAPEDOC_DEBUG")
        variables = {key: value for key, value in os.environ.items() if key not in hidden}
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-m", "shapedoc", *arguments],
            cwd=self.folder,
            env={**variables, **(environment or {})},
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in ran.stdout + ran.stderr, ran.stderr
        return ran

    def report(self, *arguments: str) -> dict[str, list[dict[str, object]]]:
        ran = self.run("lint", "--output-format", "json", *arguments)
        assert ran.returncode in (0, 1), ran.stderr
        document: dict[str, list[dict[str, object]]] = json.loads(ran.stdout)
        return document

    def codes(self, *arguments: str) -> list[tuple[object, object]]:
        return [(finding["path"], finding["code"]) for finding in self.report(*arguments)["findings"]]
