"""Candidates for a fix, and the table of those who propose them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.prescribe.bench import Bench

__all__ = ["Candidate", "Proposer", "proposals", "proposers", "proposes"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Edits that may clear a finding, and what they do, as a step that a person can take.

    refused: why it is no fix although it may run; such a candidate is only ever told of. kin: two candidates of one kin
    that make the same shapes do the same. known: how much speaks for it besides, for those with equal costs. exact: it
    makes just the shape that the finding expects, so that what is forgotten elsewhere is what the fault had taught.
    aside: what it costs that its edits do not stand on the fault.
    """

    edits: tuple[Edit, ...]
    description: str
    refused: str = ""
    kin: str = ""
    known: int = 0
    exact: bool = False
    aside: int = 0


Proposer = Callable[[Bench, Finding], Iterable[Candidate]]
_TABLE: dict[str, list[Proposer]] = {}
_loaded: list[bool] = []


def proposes(*codes: str) -> Callable[[Proposer], Proposer]:
    """Register a proposer for the findings of these rules."""

    def register(proposer: Proposer) -> Proposer:
        for code in codes:
            _TABLE.setdefault(code, []).append(proposer)
        return proposer

    return register


def proposers(code: str) -> int:
    """How many kinds of edits are tried for the findings of a rule."""
    _load()
    return len(_TABLE.get(code, ()))


def _load() -> None:
    if not _loaded:
        package = import_module("shapedoc.prescribe.candidates")
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
        _loaded.append(True)


def proposals(bench: Bench, finding: Finding) -> Iterator[Candidate]:
    """Every candidate for a finding, each set of edits once."""
    _load()
    seen: set[tuple[Edit, ...]] = set()
    for proposer in _TABLE.get(finding.code, ()):
        for candidate in proposer(bench, finding):
            if candidate.edits and candidate.edits not in seen:
                seen.add(candidate.edits)
                yield candidate
