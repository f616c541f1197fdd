"""Every language says the same things, with the same places."""

from __future__ import annotations

from string import Formatter

import pytest

from shapedoc.grade.messages import LANGUAGES, catalogue, say


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_language_has_the_same_keys_in_the_same_order() -> None:
    for language in LANGUAGES:
        assert list(catalogue(language)) == list(catalogue("en"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_the_places_of_the_english_one(language: str) -> None:
    english = catalogue("en")
    for key, text in catalogue("zh" if language == "zh" else "en").items():
        assert text.strip(), key
        assert _places(text) == _places(english[key]), key


def test_texts_are_filled() -> None:
    assert say("en", "report.marks", points=3, most=5) == "3 of 5 points"
    assert say("zh", "report.marks", points=3, most=5) == "得分 3 / 5"
    with pytest.raises(KeyError):
        say("en", "report.marks", points=3)
    with pytest.raises(KeyError):
        say("en", "report.no_such_key")
