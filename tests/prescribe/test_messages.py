"""What a diagnosis says, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.exhibit import ROOT
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.engine import Settings
from shapedoc.prescribe import choose
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate
from shapedoc.prescribe.choose import Prescribed, prescribe
from shapedoc.prescribe.diagnosis import Diagnosis, diagnose, lines_of
from shapedoc.prescribe.execution import Verdict


def bench_of(name: str) -> Bench:
    path = ROOT / "broken" / f"{name}.py"
    return Bench.of(f"{name}.py", path.read_text(encoding="utf-8"), Settings())


MESSAGES = sorted(Path(__file__).with_name("messages").glob("*.txt"))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda one: one.stem)
def test_a_diagnosis_reads_so(message: Path) -> None:
    bench = bench_of(message.stem)
    said = "\n".join(line for one in diagnose(bench) for line in lines_of(bench, one, execute=False))
    assert said == message.read_text(encoding="utf-8")


def test_what_ties_is_shown_as_choices() -> None:
    bench = bench_of("sd204_sum_without_keepdims")
    (answer,) = prescribe(bench)
    assert answer.fix is not None
    tied = Prescribed(answer.finding, choices=[answer.fix, answer.fix])
    said = list(lines_of(bench, Diagnosis(tied, None), execute=False))
    assert "3. fix        one of these, and which of them only you can say" in said
    assert said.count(f"              - {answer.fix.candidate.description}") == 2


def test_two_that_tie_are_choices_and_neither_is_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = bench_of("sd204_sum_without_keepdims")
    (finding,) = bench.findings
    line = next(i for i, text in enumerate(bench.text.splitlines(), 1) if "e.sum(axis=1)" in text)
    start = bench.text.splitlines()[line - 1].index("e.sum(axis=1)")
    span = Span(line, start, line, start + len("e.sum(axis=1)"))
    ways = [Candidate((Edit(span, text),), text) for text in ("e.sum(axis=1)[:, None]", "e.sum(axis=1, keepdims=True)")]
    monkeypatch.setattr(choose, "proposals", lambda bench, finding: iter(ways))
    monkeypatch.setattr(choose, "_cost", lambda bench, candidate: 1)
    (answer,) = prescribe(bench, [finding])
    assert answer.fix is None
    assert {one.candidate.description for one in answer.choices} == {one.description for one in ways}


@pytest.mark.parametrize(
    ("executed", "reason", "words"),
    [
        (
            Verdict(True, "verified: executed; before the fix: AssertionError"),
            "",
            "verified: executed; before the fix: AssertionError",
        ),
        (None, "X could not be called", "verified: reanalysed; not executed: X could not be called"),
    ],
)
def test_how_far_a_fix_was_verified_is_said(executed: Verdict | None, reason: str, words: str) -> None:
    bench = bench_of("sd204_sum_without_keepdims")
    (answer,) = prescribe(bench)
    said = list(lines_of(bench, Diagnosis(answer, None, executed, reason), execute=True))
    assert f"              {words}" in said
    assert said[-2].startswith("4. test       none")
