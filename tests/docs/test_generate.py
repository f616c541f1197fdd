"""The generator of pages: what it writes holds, and what is stale, missing or left over is said."""

from __future__ import annotations

import json
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


def test_rule_pages_say_what_their_faults_cost(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "fixtures" / "broken", tmp_path / "fixtures" / "broken")
    shutil.copy(ROOT / "README.md", tmp_path)
    results = tmp_path / "docs" / "attention" / "results" / "price_list.json"
    row = {
        "rule": "SD304",
        "seeds": 3,
        "length": 20,
        "right_accuracy": 0.98,
        "points_padded": 0.0,
        "points_alone": 0.0,
        "cosine": 0.9996,
        "failed": "",
    }
    costs = [
        row | {"exhibit": "sd304_no_tanh", "accuracy": 0.67, "points": 31.2},
        row | {"exhibit": "sd304_no_tanh_plain", "accuracy": 0.97, "points": 0.6, "points_alone": 40.4},
        row
        | {"exhibit": "sd304_no_tanh_concat", "accuracy": 0.0, "points": 98.0, "failed": "the loss is nan at step 1"},
    ]
    results.write_text(json.dumps(costs), encoding="utf-8")
    assert _generate(tmp_path).returncode == 0
    page = (tmp_path / "docs" / "rules" / "SD304.md").read_text(encoding="utf-8")
    told = [line.partition("): ")[2] for line in page.partition("## What it costs")[2].splitlines() if line[:2] == "- "]
    assert told == [
        "cannot be trained; the loss is nan at step 1.",
        "costs 31 points of accuracy at length 20 (0.98 and 0.67). "
        "First gradients: cosine 1.000 with the right model's.",
        "costs nothing here (0.98 and 0.97). Reading what it wrote itself, it loses 40. "
        "First gradients: cosine 1.000 with the right model's.",
    ]
    other = (tmp_path / "docs" / "rules" / "SD101.md").read_text(encoding="utf-8")
    assert "What it costs" not in other
