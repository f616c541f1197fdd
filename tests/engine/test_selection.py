"""Which findings are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shapedoc.config import Config
from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Span
from shapedoc.engine.request import RequestError
from shapedoc.engine.selection import Selection

RULES = {
    "SD101": "mismatched-product",
    "SD109": "dot-score-of-unequal-sizes",
    "SD308": "mixed-convention",
    "SD401": "softmax-over-wrong-axis",
}


def _finding(code: str, severity: Severity = "error", path: str = "a.py") -> Finding:
    return Finding(code, RULES[code], severity, path, Span(1, 0, 1, 1), "m")


ALL = [_finding("SD101"), _finding("SD109", "warning"), _finding("SD308", "note"), _finding("SD401")]


def _told(config: Config) -> list[str]:
    return [finding.code for finding in Selection(config, RULES).told(ALL)]


@pytest.mark.parametrize(
    ("select", "ignore", "told"),
    [
        ((), (), ["SD101", "SD109", "SD401"]),
        (("ALL",), (), ["SD101", "SD109", "SD401"]),
        (("SD1",), (), ["SD101", "SD109"]),
        (("SD101", "SD4"), (), ["SD101", "SD401"]),
        (("mismatched-product",), (), ["SD101"]),
        ((), ("SD1",), ["SD401"]),
        (("SD101",), ("SD1",), ["SD101"]),
        (("SD1",), ("SD101",), ["SD109"]),
        (("SD101",), ("SD101",), []),
        ((), ("softmax-over-wrong-axis",), ["SD101", "SD109"]),
        (("SD3",), (), []),
        (("SD308",), (), ["SD308"]),
        (("mixed-convention",), (), ["SD308"]),
    ],
)
def test_the_longer_selector_wins(select: tuple[str, ...], ignore: tuple[str, ...], told: list[str]) -> None:
    assert _told(Config(select=select, ignore=ignore)) == told


def test_notes_are_told_when_asked_for() -> None:
    assert _told(Config(notes=True)) == ["SD101", "SD109", "SD308", "SD401"]


def test_a_severity_is_set_anew_and_counts() -> None:
    config = Config(severity=(("SD308", "warning"), ("SD1", "note"), ("SD101", "error")))
    assert [(f.code, f.severity) for f in Selection(config, RULES).told(ALL)] == [
        ("SD101", "error"),
        ("SD308", "warning"),
        ("SD401", "error"),
    ]


def test_files_are_spared_by_pattern(tmp_path: Path) -> None:
    config = Config(root=tmp_path, per_file_ignores=(("old/", ("SD4",)), ("*_demo.py", ("ALL",))))
    selection = Selection(config, RULES)
    for path, told in [
        ("old/a.py", ["SD101"]),
        ("deep/old/a.py", ["SD101"]),
        ("new/a.py", ["SD101", "SD401"]),
        ("new/x_demo.py", []),
    ]:
        here = [_finding(code, path=str(tmp_path / path)) for code in ("SD101", "SD401")]
        assert [finding.code for finding in selection.told(here)] == told


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (Config(select=("SD999",)), "`select` names `SD999`, and no rule is called so"),
        (Config(ignore=("SD402",)), "`ignore` names `SD402`, and no rule is called so; did you mean `SD401`?"),
        (
            Config(select=("mismatch-product",)),
            "`select` names `mismatch-product`, and no rule is called so; did you mean `mismatched-product`?",
        ),
        (Config(select=("",)), "`select` names ``, and no rule is called so"),
        (Config(per_file_ignores=(("*", ("X",)),)), "`per-file-ignores` names `X`, and no rule is called so"),
    ],
)
def test_a_selector_that_selects_nothing_is_said(config: Config, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        Selection(config, RULES)
    assert str(caught.value).startswith(message)


def test_nothing_but_the_severity_changes() -> None:
    (told,) = Selection(Config(select=("SD101",), severity=(("SD101", "warning"),)), RULES).told(ALL)
    assert replace(told, severity="error") == ALL[0]
