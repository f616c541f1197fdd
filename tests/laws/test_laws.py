"""The laws of the analysis on edited programs.

No edit makes it crash; what is only said (comments, annotations, defaults) adds no finding when it is taken away; a
consistent renaming and another layout change none; and both lowerings give one ir on every text. A few examples are
drawn in every run, the same ones each time; a thousand of each in the long one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from shapedoc.source import lower_ast, lower_cst
from shapedoc.source.parse import SourceError
from tests.laws.edits import without_annotations, without_comments, without_defaults, wrecked
from tests.laws.layout import reformatted
from tests.laws.programs import broken, faults, right
from tests.laws.renaming import renamed

_FEW, _MANY = 12, 1000
_SEEDS = st.integers(0, 2**32 - 1)

Law = Callable[[int, int], None]


def _program(programs: tuple[str, ...], number: int) -> str:
    return programs[number % len(programs)]


def _agree(text: str) -> None:
    """Both lowerings give one ir, spans included, wherever both read the text."""
    try:
        expected, found = lower_ast.lower(text), lower_cst.lower(text).module
    except SourceError:
        return
    assert repr(found) == repr(expected)


def _no_crash(program: int, seed: int) -> None:
    text = wrecked(_program(right(), program), Random(seed))
    analyse("model.py", text, Settings())
    _agree(text)


def _taking_away(edit: Callable[[str, Random], str]) -> Law:
    @cache
    def programs() -> tuple[str, ...]:
        return tuple(text for text in right() if any(edit(text, Random(seed)) != text for seed in range(4)))

    def law(program: int, seed: int) -> None:
        text = edit(_program(programs(), program), Random(seed))
        assert faults(text) == []
        _agree(text)

    return law


def _renaming(program: int, seed: int) -> None:
    found = renamed(_program(right(), program), Random(seed))
    if found is not None:
        assert faults(found[0]) == []
        _agree(found[0])


def _renaming_of_broken(program: int, seed: int) -> None:
    text = _program(broken(), program)
    found = renamed(text, Random(seed), bare=True)
    if found is not None:
        before, after = ([(f.span.line, f.code, f.severity) for f in faults(t)] for t in (text, found[0]))
        assert sorted(after) == sorted(before), found[1:]


def _layout(program: int, seed: int) -> None:
    text = reformatted(_program(right(), program), Random(seed))
    assert faults(text) == []
    _agree(text)


def _layout_of_broken(program: int, seed: int) -> None:
    text = _program(broken(), program)
    before, after = (
        Counter((f.code, f.severity, f.function) for f in faults(t)) for t in (text, reformatted(text, Random(seed)))
    )
    assert after == before


_LAWS: dict[str, Law] = {
    "no edit makes it crash": _no_crash,
    "a comment taken away adds nothing": _taking_away(without_comments),
    "an annotation taken away adds nothing": _taking_away(without_annotations),
    "a default taken away adds nothing": _taking_away(without_defaults),
    "a renaming adds nothing": _renaming,
    "a renaming changes nothing": _renaming_of_broken,
    "another layout adds nothing": _layout,
    "another layout changes nothing": _layout_of_broken,
}


def _try(law: Law, examples: int) -> None:
    @settings(max_examples=examples)
    @given(st.integers(0, 10_000), _SEEDS)
    def holds(program: int, seed: int) -> None:
        law(program, seed)

    holds()


@pytest.mark.parametrize("name", _LAWS)
def test_law(name: str) -> None:
    _try(_LAWS[name], _FEW)


@pytest.mark.full
@pytest.mark.parametrize("name", _LAWS)
def test_law_on_many_programs(name: str) -> None:
    _try(_LAWS[name], _MANY)
