"""The pytest plugin: ``--shapedoc``, ``--shapedoc-packages``, the marker and the fixture.

Nothing of the tool is loaded until one of them is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from shapedoc.core.finding import Finding

__all__ = ["attention_contract", "pytest_addoption", "pytest_configure"]

_PROPERTY = "shapedoc"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("shapedoc", "shape faults in attention code")
    group.addoption("--shapedoc", action="store_true", help="Watch the code under test; fail on an error.")
    group.addoption(
        "--shapedoc-packages",
        metavar="PACKAGES",
        default="",
        help="Check every function of these packages (commas between them), as if it were decorated.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "shapedoc(contract): the contract that `attention_contract` tests")
    packages = [p.strip() for p in config.getoption("--shapedoc-packages").split(",") if p.strip()]
    if packages:
        from shapedoc.integrations.hook import install_import_hook

        hook = install_import_hook(*packages)
        config.add_cleanup(hook.uninstall)
    if config.getoption("--shapedoc"):
        config.pluginmanager.register(_Watcher(config.rootpath), "shapedoc-watcher")


@pytest.fixture
def attention_contract(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Test a function by what it does: ``attention_contract(attend)``, with the contract of the marker or one given.

    Gives the outcome; fails the test where a property does not hold.
    """
    marker = request.node.get_closest_marker("shapedoc")
    marked = marker.kwargs.get("contract") if marker is not None else None

    def holds(function: Callable[..., Any], contract: str | None = None, **options: Any) -> Any:
        from shapedoc.runtime.behave import behave

        text = contract or marked
        if text is None:
            raise ValueError("which contract? mark the test with @pytest.mark.shapedoc(contract=...) or pass one")
        outcome = behave(function, text, **options)
        outcome.raise_if_failed()
        return outcome

    return holds


class _Watcher:
    """Records the code under test, test by test."""

    def __init__(self, root: Path) -> None:
        from shapedoc.runtime.program import under

        self.root = root
        self.watched = under(root)
        self.told: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        from shapedoc.integrations.watched import best, note
        from shapedoc.runtime.active import is_recording
        from shapedoc.runtime.recording import record

        if is_recording():
            return (yield)
        with record(self.watched) as recording:
            try:
                result = yield
            except Exception as problem:
                recording.error = problem
                explained = best(recording)
                note(problem, explained)
                found = recording.findings() if explained is None else [explained, *recording.findings()]
                self._keep(item, found)
                raise
        findings = recording.findings()
        self._keep(item, findings)
        errors = [f for f in findings if f.severity == "error"]
        if errors:
            from shapedoc.integrations.told import text_of_finding

            # What the plugin itself did is of no interest: no traceback.
            pytest.fail("\n\n".join(text_of_finding(f) for f in errors), pytrace=False)
        return result

    def _keep(self, item: pytest.Item, findings: list[Finding]) -> None:
        """Findings as properties of the test, which JUnit reports and the summary show."""
        for finding in dict.fromkeys(f for f in findings if f.severity != "note"):
            path = Path(finding.path)
            shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path
            place = f"{shown}:{finding.span.line}:{finding.span.column + 1}"
            item.user_properties.append((_PROPERTY, f"{place}: {finding.severity}[{finding.code}] {finding.message}"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for key, value in report.user_properties:
                if key == _PROPERTY:  # One rule at one place, whatever the sizes were.
                    self.told.setdefault(str(value).partition("] ")[0], str(value))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.told:
            terminalreporter.section("shapedoc")
            for line in self.told.values():
                terminalreporter.write_line(line)
