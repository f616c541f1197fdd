"""``junit``: a test report in XML, which most build servers show: a suite a submission, a test case an item.

It is for the instructor: hidden items are told in full. An item that could not be run is an error, one without full
points a failure. Characters outside ASCII are written as references; times are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from shapedoc.grade.exports.handing import Handing
from shapedoc.grade.pages.text import number, safe, safe_line
from shapedoc.grade.pages.told import pieces
from shapedoc.grade.result import GradedSubmission, ItemResult

__all__ = ["FILE", "ONE_EACH", "SUFFIX", "render"]

SUFFIX, ONE_EACH, FILE = ".xml", False, ""


def render(results: Sequence[GradedSubmission], handing: Handing) -> str:
    """One XML document."""
    root = ElementTree.Element("testsuites", name="shapedoc grade")
    for result in results:
        suite = ElementTree.SubElement(root, "testsuite", name=safe_line(result.name))
        for item in result.items:
            _case(suite, item, result)
        _count(suite, suite)
        if result.message:
            ElementTree.SubElement(suite, "system-err").text = safe(result.message)
    _count(root, root)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="us-ascii").decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, item: ItemResult, result: GradedSubmission) -> None:
    name = f"{safe_line(item.title)} ({number(item.points)}/{number(item.max_points)})"
    case = ElementTree.SubElement(suite, "testcase", classname=safe_line(result.assignment), name=name)
    if item.status == "passed":
        return
    says = item.evidence.says if item.evidence else item.reason or item.says
    tag = "error" if item.status == "not_run" else "failure"
    fault = ElementTree.SubElement(case, tag, message=safe_line(says), type=safe_line(item.mistake or item.id))
    lines: list[str] = []
    for piece in pieces(item, result.language, published=True):
        lines += [one for one in (safe_line(piece.heading), safe(piece.text)) if one]
    fault.text = "\n".join(lines)


def _count(element: ElementTree.Element, within: ElementTree.Element) -> None:
    """Say how many test cases there are, and how many of them fail."""
    cases = list(within.iter("testcase"))
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", str(sum(case.find("error") is not None for case in cases)))
