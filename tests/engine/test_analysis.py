"""One text: what rules say of it, once, and suppressed where the author asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.engine import analysis
from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from shapedoc.rules import all_rules

TEXT = "import torch\nx = torch.zeros(2)\ny = x\n"


def _finding(line: int, severity: Severity = "error") -> Finding:
    return Finding("SD101", "mismatched-product", severity, "a.py", Span(line, 0, line, 5), f"{severity} on {line}")


@pytest.fixture
def saying(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put one rule in the place of all, which says what it is given and counts the traces it sees."""

    def install(*findings: Finding) -> None:
        def check(trace: Trace) -> Iterator[Finding]:
            yield from findings

        rule = replace(next(rule for rule in all_rules() if rule.code == "SD101"), check=check)
        monkeypatch.setattr(analysis, "all_rules", lambda: (rule,))

    return install


def test_one_rule_speaks_once_of_one_place_and_the_gravest_word_counts(saying: Callable[..., None]) -> None:
    saying(_finding(2, "note"), _finding(2, "error"), _finding(2, "warning"), _finding(3, "warning"))
    assert [f.message for f in analyse("a.py", TEXT, Settings()).findings] == ["error on 2", "warning on 3"]


def test_of_two_that_are_as_grave_the_one_that_follows_from_nothing_counts(saying: Callable[..., None]) -> None:
    saying(replace(_finding(2), follows=True), _finding(2), replace(_finding(2), follows=True), _finding(3))
    assert [f.span.line for f in analyse("a.py", TEXT, Settings()).findings] == [2, 3]


def test_what_is_suppressed_is_not_said_and_what_suppresses_nothing_is(saying: Callable[..., None]) -> None:
    saying(_finding(2))
    text = TEXT.replace("zeros(2)", "zeros(2)  # shapedoc: ignore[SD101]").replace("= x", "= x  # shapedoc: ignore")
    (left,) = analyse("a.py", text, Settings()).findings
    assert (left.code, left.span.line, left.message) == (
        "SD902",
        3,
        "this comment suppresses nothing: nothing is found on its line",
    )


def test_the_concrete_syntax_is_read_only_without_the_screen(
    saying: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from shapedoc.source import lower_cst

    read: list[str] = []
    lower = lower_cst.lower

    def counting(text: str) -> lower_cst.Lowered:
        read.append(text)
        return lower(text)

    monkeypatch.setattr(lower_cst, "lower", counting)
    saying(_finding(2))
    analyse("a.py", TEXT, Settings())
    assert read == []
    analyse("a.py", TEXT, Settings(screen=False))
    assert read == [TEXT]


def test_what_libcst_cannot_read_is_told_from_the_abstract_syntax(
    saying: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from shapedoc.source import lower_cst
    from shapedoc.source.parse import SourceError

    def refuse(text: str) -> lower_cst.Lowered:
        raise SourceError("libcst does not read this syntax")

    monkeypatch.setattr(lower_cst, "lower", refuse)
    saying(_finding(2))
    assert [f.message for f in analyse("a.py", TEXT, Settings(screen=False)).findings] == ["error on 2"]


@pytest.mark.parametrize(
    ("text", "line", "message", "step"),
    [
        ("import torch\nx = (\n", 2, "the file does not parse: '(' was never closed", "mend the syntax here"),
        (
            "import numpy\nprint 'x'\n",
            2,
            "the file is written for Python 2: not read",
            "port it to the Python of today, or exclude the file",
        ),
    ],
)
def test_a_text_that_does_not_parse_is_a_finding(text: str, line: int, message: str, step: str) -> None:
    (finding,) = analyse("a.py", text, Settings()).findings
    assert (finding.code, finding.span.line, finding.message, finding.help) == ("SD901", line, message, step)
    assert analyse("a.py", f"# shapedoc: skip-file\n{text}", Settings()).findings == []


def test_a_text_that_is_nested_too_deeply_is_an_error_of_its_own() -> None:
    found = analyse("a.py", "import torch\nx = " + "-" * 5000 + "1\n", Settings())
    assert found.findings == []
    assert found.error is not None
    assert found.error.message == "the code is nested too deeply to be analysed"
