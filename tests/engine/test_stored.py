"""Findings as plain data, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit, Fix
from shapedoc.core.span import Label, Span
from shapedoc.engine.stored import NotStored, finding_from_plain, finding_to_plain

_TEXT = st.text(max_size=5)
_SPAN = st.builds(Span, *[st.integers(0, 9)] * 4, _TEXT)
_FIX = st.builds(
    Fix,
    _TEXT,
    st.lists(st.builds(Edit, _SPAN, _TEXT), max_size=2).map(tuple),
    st.sampled_from(["safe", "unsafe", "display"]),
    st.sampled_from([None, "reanalysed", "executed"]),
)
_FINDING = st.builds(
    Finding,
    _TEXT,
    _TEXT,
    st.sampled_from(["error", "warning", "note"]),
    _TEXT,
    _SPAN,
    _TEXT,
    _TEXT,
    _TEXT,
    _TEXT,
    _TEXT,
    st.lists(st.builds(Label, _SPAN, _TEXT), max_size=2).map(tuple),
    _TEXT,
    _TEXT,
    st.lists(_TEXT, max_size=2).map(tuple),
    st.none() | _FIX,
    st.none() | _TEXT,
    st.none() | _SPAN,
)


@given(_FINDING)
def test_a_finding_comes_back_as_it_was(finding: Finding) -> None:
    assert finding_from_plain(finding_to_plain(finding)) == finding
    assert finding_from_plain(json.loads(json.dumps(finding_to_plain(finding)))) == finding


@pytest.mark.parametrize("key", ["code", "span", "labels", "function", "fix", "severity"])
def test_damaged_data_is_no_finding(key: str) -> None:
    whole = finding_to_plain(Finding("SD101", "n", "error", "a.py", Span(1, 0, 1, 1), "m"))
    for damaged in ({**whole, key: 3}, {k: v for k, v in whole.items() if k != key}):
        with pytest.raises(NotStored):
            finding_from_plain(damaged)
