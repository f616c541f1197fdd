"""The page of a class: rates, clusters of the same mistake, and a row for every submission."""

from __future__ import annotations

import re
from dataclasses import replace

from shapedoc.grade.pages import class_page
from tests.grade.samples import CLASS, FAILED, PASSED

LINKS = ["li_wei.html", "o_hara_anne.html", ""]


def test_rates_means_and_the_spread() -> None:
    page = class_page.render(CLASS, LINKS, "en")
    assert "3 submissions" in page
    assert "mean 3.83 of 9 points, median 2.5" in page
    assert "full points: 1" in page
    assert page.count('<td class="number">33%</td>') == 4  # only one of three has it right
    assert '<td class="number">67%</td><td class="number">0.67 / 1</td>' in page  # the shape
    assert len(re.findall(r"<rect [^>]*><title>[\d.]+ to [\d.]+: \d+</title>", page)) == 10


def test_the_same_mistake_is_told_once_with_everybody_who_made_it() -> None:
    others = [replace(FAILED, name=f"s{i}.py") for i in range(3)]
    alone = replace(FAILED, name="t.py", items=(replace(FAILED.items[1], mistake="only-one"),))
    page = class_page.render([*others, alone], ["a.html", "b.html", "c.html", "d.html"], "en")
    clusters = page.split('<div class="cluster">')[1:]
    names = [re.findall(r"<h3>(.*?)</h3>", cluster)[0] for cluster in clusters]
    assert names == ["The mask is applied after the softmax", "secret-mistake", "only-one"]
    assert re.findall(r'<a href="(.*?)">(.*?)</a>', clusters[0].split("</div>")[1]) == [
        ("a.html", "s0.py"),
        ("b.html", "s1.py"),
        ("c.html", "s2.py"),
    ]


def test_a_row_for_every_submission_with_its_first_fault() -> None:
    page = class_page.render(CLASS, LINKS, "en")
    rows = re.findall(r"<tr>.*?</tr>", page.rpartition("<tbody>")[2], re.DOTALL)
    assert len(rows) == 3
    assert "Row 2 has length 3" in rows[0]
    assert '<td class="fault-cell"></td>' in rows[1]
    assert "line 3: &#x27;(&#x27; was never closed" in rows[2]
    assert "<a" not in rows[2]


def test_empty_classes_and_classes_without_mistakes() -> None:
    assert "0 submissions" in class_page.render([], [], "en")
    assert "No mistake was recognised in any submission." in class_page.render([PASSED], ["a.html"], "en")
    assert "没有在任何提交中识别出已知的错误。" in class_page.render([PASSED], ["a.html"], "zh")


def test_the_order_of_the_rubric_is_kept() -> None:
    page = class_page.render([replace(FAILED, items=FAILED.items[2:]), PASSED], ["", ""], "en")
    places = [page.index(item.title) for item in PASSED.items]
    assert places == sorted(places)
