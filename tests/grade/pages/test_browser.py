"""The pages in a real browser: no script, no complaint, no request, pictures drawn, nothing wider than the window."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shapedoc.grade.writing import write_reports
from tests.grade.pages.browser import Browser, chromium, opened
from tests.grade.samples import CLASS, FAILED, HOSTILE

pytestmark = pytest.mark.full

_BOXES = """[...document.querySelectorAll('figure svg, svg.bar, svg.spread')].map(svg => {
    const box = svg.getBoundingClientRect(); return [box.width, box.height]; })"""
_HATCHED = """[...document.querySelectorAll('figure svg rect')].map(r => r.getAttribute('fill'))
    .filter(fill => fill && fill.startsWith('url(#')).every(fill => document.getElementById(fill.slice(5, -1)))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = chromium()
    if program is None:
        print("SKIPPED: the pages in a browser: Chromium is not installed")
        pytest.skip("Chromium is not installed")
    with opened(program, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pages")
    write_reports([*CLASS, replace(FAILED, name="chinese.py", language="zh"), *HOSTILE], out)
    return out


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_is_quiet_fits_and_asks_for_nothing(browser: Browser, pages: Path, width: int, dark: bool) -> None:
    files = sorted(pages.glob("*.html"))
    assert len(files) == len(CLASS) + len(HOSTILE) + 2
    for file in files:
        browser.show(file, width, dark=dark)
        assert browser.complaints() == [], file.name
        assert browser.requests() == [file.as_uri()], file.name
        assert browser.value("document.scripts.length") == 0
        assert browser.value("document.documentElement.scrollWidth") <= width, file.name


def test_the_pictures_are_drawn(browser: Browser, pages: Path) -> None:
    browser.show(pages / "li_wei.html", 1280)
    boxes = browser.value(_BOXES)
    assert len(boxes) == 5  # the bar, the weights and the right ones, the accuracy, the shape flow
    assert all(width > 50 and height > 5 for width, height in boxes)
    assert browser.value(_HATCHED) is True
    titles = browser.value("[...document.querySelectorAll('figure svg title')].map(t => t.textContent)")
    assert titles == ["Accuracy", "your weights", "the right weights", "shape flow of masked_softmax"]
    browser.show(pages / "class.html", 1280)
    assert len(browser.value("[...document.querySelectorAll('svg.spread rect')].map(r => r.id)")) == 10
    assert all(width > 0 for width, _ in browser.value(_BOXES))


def test_the_style_is_applied(browser: Browser, pages: Path) -> None:
    """The policy allows the style sheet by its hash; a wrong hash would leave the page bare."""
    browser.show(pages / "li_wei.html", 1280)
    assert browser.value("getComputedStyle(document.querySelector('.card')).borderTopLeftRadius") == "12px"
    browser.show(pages / "li_wei.html", 1280, dark=True)
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 22)"


def test_a_page_that_does_ask_and_complain_is_caught(browser: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='http://127.0.0.1:9/x.png'><script>nothing()</script><p style='width:2000px'>wide</p>")
    browser.show(bad, 390)
    assert browser.requests()[1:] == ["http://127.0.0.1:9/x.png"]
    assert any("nothing is not defined" in complaint for complaint in browser.complaints())
    assert browser.value("document.documentElement.scrollWidth") > 390


def test_screenshots_are_taken_where_they_are_asked_for(browser: Browser, pages: Path, tmp_path: Path) -> None:
    """``SHAPEDOC_SCREENSHOTS=DIR`` keeps them, for people to look at."""
    folder = Path(os.environ.get("SHAPEDOC_SCREENSHOTS") or tmp_path)
    folder.mkdir(exist_ok=True, parents=True)
    for name in ("li_wei", "class", "chinese"):
        for width in (1280, 390):
            browser.show(pages / f"{name}.html", width)
            browser.picture(folder / f"{name}-{width}.png")
            assert (folder / f"{name}-{width}.png").read_bytes().startswith(b"\x89PNG")
