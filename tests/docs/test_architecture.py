"""The page that says where a line belongs names every layer and every room, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def _named(heading: str) -> set[str]:
    """What the first column of the table under a heading names."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def _rooms(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if (path / "__init__.py").is_file()}


def test_every_layer_is_named() -> None:
    assert _named("layer") == _rooms(ROOT / "shapedoc") | {"config", "cache"}


@pytest.mark.parametrize("layer", ["infer", "ops", "rules"])
def test_every_room_is_named(layer: str) -> None:
    named = {name for name in _named(f"room of `{layer}`") if not name.endswith(".py")}
    assert named == _rooms(ROOT / "shapedoc" / layer)
