"""The page of a submission: what it tells, what it keeps back, and that nothing in it acts."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from shapedoc.grade.pages import class_page, html, markdown, terminal
from shapedoc.grade.result import GradedSubmission, Pictures, Value, Weights
from tests.grade.samples import CLASS, FAILED, HOSTILE, NOT_GRADABLE, PASSED, hostile_results

# Every element that a page of ours may have; none of them loads, runs or sends anything.
_ELEMENTS = {"html", "head", "meta", "title", "style", "body", "div", "header", "main", "footer", "nav", "section"}
_ELEMENTS |= {"aside", "figure", "ol", "ul", "li", "p", "h1", "h2", "h3", "b", "a", "code", "pre", "span"}
_ELEMENTS |= {"table", "thead", "tbody", "tr", "th", "td"}
_ELEMENTS |= {"svg", "rect", "text", "path", "circle", "line", "defs", "pattern"}
_VOID = {"meta"}


class Page(HTMLParser):
    """The elements, links and text of a page; elements must be closed in the order in which they were opened."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "action")]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def safe(page: str) -> Page:
    """Read a page, and hold it to what a page may have."""
    page.encode("utf-8")
    assert not any(ord(c) < 32 and c != "\n" for c in page)
    read = Page(page)
    assert set(read.elements) <= _ELEMENTS
    assert not any(name.startswith("on") or name == "style" for name in read.attributes)
    assert all(re.fullmatch(r"#item-\d+|[\w%-]+\.html", link) for link in read.links), read.links
    return read


def test_a_page_tells_the_fault_the_input_the_gap_the_hint_and_the_finding() -> None:
    text = safe(html.render(FAILED)).text
    for told in (
        "2.5 of 5 points",
        "Further points, for what is not shown here: 4",
        "A key at or past the length of its row has weight 0, exactly.",
        "Row 2 has length 3, yet key 4 got weight 0.21; it must be 0.",
        "[[0.5, 1.5, 0.25, -1, 0.75]]",
        "[[0.15, 0.42, 0.12, 0.1, 0.21]]",
        "[[0.22, 0.61, 0.17, 0, 0]]",
        "largest difference: 0.21",
        "3 of 6 inputs right",
        "Look at the order of two steps.",
        "scores.masked_fill(~mask, float('-inf')).softmax(dim=-1)",
        "SD404 mask-after-softmax the weights are masked after the softmax and not renormalised",
        "shapedoc explain SD404",
        "An earlier step took too long.",
        "masked-softmax · ab12",
    ):
        assert told in text, told


def test_hidden_items_have_their_property_only() -> None:
    page = html.render(FAILED)
    assert "A row of length 0 has weights of 0, not NaN." in page
    for secret in ("SECRET", "secret-mistake", "LATER"):
        assert secret not in page
    published = html.render(FAILED, published=True)
    assert "LATER" in published
    assert "SECRET" not in published


def test_how_a_hidden_item_went_cannot_be_read_off_the_page() -> None:
    items = list(FAILED.items)
    items[2] = replace(items[2], status="passed", points=2.0, evidence=None, mistake="", hint="")
    other = replace(FAILED, items=tuple(items), score=4.5)
    assert html.render(other) == html.render(FAILED)


@pytest.mark.parametrize("wrong", [2, 3])
def test_a_fault_that_is_not_shown_does_not_change_how_a_submission_stands(wrong: int) -> None:
    items = list(PASSED.items)
    items[wrong] = FAILED.items[wrong]
    failed = replace(PASSED, items=tuple(items), score=7.0, status="failed")
    assert html.render(failed) == html.render(PASSED)
    assert "Everything that is shown here is right." in html.render(failed)


def test_the_seed_stands_in_no_report_of_a_student() -> None:
    result = replace(FAILED, seed=918273)
    for report in (html.render(result), markdown.render(result), "".join(terminal.render(result))):
        assert "918273" not in report


def test_backticks_set_off_code() -> None:
    item = replace(FAILED.items[1], says="`a < b` & c")
    assert "<code>a &lt; b</code> &amp; c" in html.render(replace(FAILED, items=(item,)))


def test_the_caret_stands_under_the_column_after_wide_characters_and_tabs() -> None:
    finding = replace(FAILED.findings[0], source="注意 = softmax(x)", column=6)
    page = html.render(replace(FAILED, findings=(finding,)))
    assert "注意 = softmax(x)\n       <span" in page


def test_the_policy_allows_the_style_sheet_and_nothing_else() -> None:
    page = html.render(PASSED)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    allowed = b64encode(sha256(style.encode()).digest()).decode()
    assert f"content=\"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'\"" in page
    assert "url(" not in style
    assert "@import" not in style


def test_every_kind_of_submission_has_a_page_in_both_languages() -> None:
    for result in (*CLASS, *HOSTILE):
        assert '<html lang="en">' in html.render(result)
        chinese = html.render(replace(result, language="zh"))
        assert '<html lang="zh-Hans">' in chinese
        assert "得分" in safe(chinese).text
    assert "line 3: '(' was never closed" in safe(html.render(NOT_GRADABLE)).text


def test_a_picture_that_is_none_of_ours_is_left_out() -> None:
    for text in (
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        "<svg xmlns='http://www.w3.org/2000/svg'><image href='http://evil.example'/></svg>",
        "<svg xmlns='http://www.w3.org/2000/svg'><path style='fill:url(http://evil.example)'/></svg>",
        "<svg>",
        "no picture",
    ):
        page = html.render(replace(FAILED, pictures=Pictures(shape_flow=text)))
        assert "evil" not in page
        assert "alert" not in page
        safe(page)


def test_weights_of_another_shape_than_the_right_ones_are_drawn_without_padding() -> None:
    odd = Weights("padding", "odd", ((0.5,), (0.5,)), ((0.5, 0.5),), ((False, True),), ("a",), ("k0", "k1"))
    ragged = Weights("padding", "ragged", ((0.5,), (0.5, 0.5)), ())
    page = html.render(replace(FAILED, pictures=Pictures((odd, ragged))))
    assert page.count("<figure") == 2


def test_large_values_are_told_and_do_not_break_the_page() -> None:
    evidence = FAILED.items[1].evidence
    assert evidence is not None
    large = replace(evidence, output=Value("w", "0.5 " * 20_000, (100, 200), "float32"))
    item = replace(FAILED.items[1], evidence=large)
    safe(html.render(replace(FAILED, items=(item,))))


def test_the_same_result_gives_the_same_bytes_whatever_time_it_took() -> None:
    assert html.render(FAILED) == html.render(replace(FAILED, execution_time_s=99.0))


@settings(max_examples=30)
@given(hostile_results())
def test_whatever_a_submission_says_nothing_in_its_page_acts(result: GradedSubmission) -> None:
    safe(html.render(result))


@settings(max_examples=30)
@given(hostile_results(), hostile_results())
def test_whatever_submissions_say_nothing_in_the_class_page_acts(
    first: GradedSubmission, second: GradedSubmission
) -> None:
    safe(class_page.render([first, second], ["a.html", ""], first.language))


@pytest.mark.parametrize("text", ["</style><b>", "javascript:alert(1)", "&lt;b&gt;"])
def test_names_are_shown_as_they_are(text: str) -> None:
    assert text in safe(html.render(replace(FAILED, name=text))).text
