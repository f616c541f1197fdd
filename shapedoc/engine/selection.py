"""Which findings are told: rules selected and ignored, files spared, severities set, notes asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shapedoc.config import Config, did_you_mean
from shapedoc.core.finding import Finding, Severity
from shapedoc.engine.request import RequestError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["Selection"]

_PREFIX = re.compile(r"SD\d{0,3}")


class Selection:
    """Decides for every finding whether it is told, and with which severity.

    A selector is ``ALL``, a code, the beginning of a code (``SD4``), or a rule's name. Where one selector selects
    and another ignores, the longer beginning wins, and between equals the one that ignores. A note is told when
    notes are asked for, or when a selector names its rule in full.
    """

    def __init__(self, config: Config, rules: Mapping[str, str]) -> None:
        """`rules` gives the name of each code. Raises RequestError for a selector that selects nothing."""
        self._codes = {name: code for code, name in rules.items()}
        self._known = tuple(rules)
        self._select = self._prefixes(config.select, "select") or frozenset({""})
        self._ignore = self._prefixes(config.ignore, "ignore")
        self._notes = config.notes
        self._root = config.root
        self._severity = {
            prefix: level for selector, level in config.severity for prefix in self._prefixes((selector,), "severity")
        }
        self._spared = [
            (_spec(pattern), self._prefixes(codes, "per-file-ignores")) for pattern, codes in config.per_file_ignores
        ]

    def told(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that are told, with their severity as it was set."""
        return [self._set(finding) for finding in findings if self._is_told(self._set(finding))]

    def _is_told(self, finding: Finding) -> bool:
        code = finding.code
        selected, ignored = _longest(code, self._select), _longest(code, self._ignore)
        if selected is None or (ignored is not None and len(ignored) >= len(selected)):
            return False
        if finding.severity == "note" and not self._notes and code not in self._select:
            return False
        return not any(
            _longest(code, prefixes) is not None and spec.match_file(self._relative(finding.path))
            for spec, prefixes in self._spared
        )

    def _set(self, finding: Finding) -> Finding:
        prefix = _longest(finding.code, self._severity)
        if prefix is None:
            return finding
        return replace(finding, severity=_severity(self._severity[prefix]))

    def _relative(self, path: str) -> str:
        absolute = Path(path).absolute()
        return absolute.relative_to(self._root).as_posix() if absolute.is_relative_to(self._root) else path

    def _prefixes(self, selectors: Iterable[str], where: str) -> frozenset[str]:
        return frozenset(self._prefix(selector.strip(), where) for selector in selectors)

    def _prefix(self, selector: str, where: str) -> str:
        if selector == "ALL":
            return ""
        if selector in self._codes:
            return self._codes[selector]
        if _PREFIX.fullmatch(selector) and any(code.startswith(selector) for code in self._known):
            return selector
        near = did_you_mean(selector, [*self._known, *self._codes])
        raise RequestError(f"`{where}` names `{selector}`, and no rule is called so{near}")


def _longest(code: str, prefixes: Iterable[str]) -> str | None:
    return max((prefix for prefix in prefixes if code.startswith(prefix)), key=len, default=None)


def _severity(word: str) -> Severity:
    match word:
        case "error" | "warning" | "note":
            return word
        case _:
            raise RequestError(f"`{word}` is no severity; there are: error, warning, note")


def _spec(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])
