"""The generator of pages: what it writes holds, and what is stale, missing or left over is said."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _generate(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(tree / "docs" / "generate.py"), *arguments],
        cwd=tree,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_pages_are_written_checked_and_cleared(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "fixtures" / "broken", tmp_path / "fixtures" / "broken")
    shutil.copy(ROOT / "README.md", tmp_path)
    assert _generate(tmp_path).returncode == 0
    checked = _generate(tmp_path, "--check")
    assert (checked.returncode, checked.stderr) == (0, "")

    (tmp_path / "docs" / "rules" / "SD101.md").write_text("old\n", encoding="utf-8")
    (tmp_path / "docs" / "rules" / "SD000.md").write_text("nobody's\n", encoding="utf-8")
    (tmp_path / "docs" / "ops.md").unlink()
    readme = tmp_path / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("error[SD", "error[XX", 1), encoding="utf-8")
    checked = _generate(tmp_path, "--check")
    assert checked.returncode == 1
    assert checked.stderr.splitlines() == [
        "docs/rules/SD101.md is not what the code says; run python docs/generate.py",
        "docs/ops.md is not what the code says; run python docs/generate.py",
        "README.md is not what the code says; run python docs/generate.py",
        "docs/rules/SD000.md belongs to nothing; remove it",
    ]
