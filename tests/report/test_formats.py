"""Every format is named wherever a reader looks for formats."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from shapedoc.cli.lint import command
from shapedoc.report import format_names

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/configuration.md"])
def test_pages_name_every_format(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [name for name in format_names() if f"`{name}`" not in text] == []


def test_the_help_names_every_format() -> None:
    told = next(p.help or "" for p in command.params if isinstance(p, click.Option) and p.name == "output_format")
    words = told.rstrip(".").replace(",", "").split()
    assert [name for name in format_names() if name not in words] == []
