"""Written pages: links lead somewhere, indexes are whole, and what the README shows is what is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\S+\.md)\)", index)) == sorted(
        page.name for page in folder.glob("*.md") if page.name != "index.md"
    )


def test_the_readme_has_two_commands_of_one_line() -> None:
    blocks = re.findall(
        r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert [block.count("\n") for block in blocks] == [1, 1]
    assert "shapedoc lint fixtures/broken/" in blocks[0]
    assert "pytest" in blocks[1]


def test_the_readme_shows_what_is_printed() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n(.*?)\n```", text, re.DOTALL | re.MULTILINE)
    model = re.search(r"shapedoc lint (fixtures/broken/\S+\.py)", text)
    assert shown is not None
    assert model is not None
    printed = subprocess.run(
        [sys.executable, "-m", "shapedoc", "lint", "--no-cache", model[1]], cwd=ROOT, capture_output=True, text=True
    )
    assert printed.returncode == 1
    assert printed.stdout.split("\n\n")[0] == shown[1]
