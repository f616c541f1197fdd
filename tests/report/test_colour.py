"""When colours are used."""

from __future__ import annotations

import pytest

from shapedoc.report.colour import COLOURED, PLAIN, Palette, palette_for


@pytest.mark.parametrize(
    ("is_terminal", "environment", "palette"),
    [
        (True, {}, COLOURED),
        (False, {}, PLAIN),
        (True, {"NO_COLOR": "1"}, PLAIN),
        (True, {"NO_COLOR": ""}, COLOURED),
        (False, {"FORCE_COLOR": "1"}, COLOURED),
        (False, {"FORCE_COLOR": ""}, PLAIN),
        (True, {"FORCE_COLOR": "0"}, PLAIN),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, PLAIN),
        (True, {"TERM": "dumb"}, PLAIN),
    ],
)
def test_colours_are_for_terminals(is_terminal: bool, environment: dict[str, str], palette: Palette) -> None:
    assert palette_for(is_terminal, environment) is palette


def test_nothing_is_painted_without_text() -> None:
    assert COLOURED.paint(COLOURED.error, "") == ""
    assert PLAIN.paint(PLAIN.error, "x") == "x"
