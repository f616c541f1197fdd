"""The analysis on every fixture: through either syntax tree, and with each source of knowledge switched off."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from shapedoc.config import Config
from shapedoc.core.finding import Finding, Report
from shapedoc.engine import KNOWLEDGE, Request, Settings, run

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"


@cache
def _report(settings: Settings) -> Report:
    return run(Request((FIXTURES,), Config(root=ROOT, notes=True), settings, jobs=2, cache=False))


def _faults(settings: Settings, folder: str) -> list[Finding]:
    place = FIXTURES / folder
    return [
        finding
        for finding in _report(settings).findings
        if finding.severity != "note" and Path(finding.path).is_relative_to(place)
    ]


def test_every_fixture_can_be_analysed() -> None:
    assert _report(Settings()).errors == []


def test_the_screen_loses_and_adds_nothing() -> None:
    assert _report(Settings(screen=False)).findings == _report(Settings()).findings


@pytest.mark.parametrize("source", ["nothing", *KNOWLEDGE])
def test_taking_knowledge_away_adds_no_finding_on_right_code(
    source: str, record_property: Callable[[str, object], None]
) -> None:
    settings = Settings(without=frozenset({source} - {"nothing"}))
    broken = sorted((FIXTURES / "broken").glob("sd*.py"))
    found = {Path(f.path) for f in _faults(settings, "broken") if Path(f.path).name.startswith(f.code.lower())}
    record_property(
        "measured", f"without {source}: {len(found)} of {len(broken)} broken fixtures found by their own rule"
    )
    assert [(finding.path, finding.span.line, finding.code) for finding in _faults(settings, "correct")] == []
