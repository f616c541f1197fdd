"""``junit``: a test report in XML, which most build servers show: a test case for each file, a failure for each fault.

A test case fails where the run does, so notes stand in its output and are no failures. Characters outside ASCII are
written as references: the document is the same whatever encoding the output has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from xml.etree import ElementTree

from shapedoc.core.finding import Finding, Report
from shapedoc.report.colour import PLAIN
from shapedoc.report.context import Context
from shapedoc.report.places import portable
from shapedoc.report.plain import one_line, plain
from shapedoc.report.remarks import remarks
from shapedoc.report.snippet import snippets

__all__ = ["render"]


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield one XML document, a line at a time."""
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="shapedoc")
    by_path: dict[str, list[Finding]] = {path: [] for path in report.paths}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    for path, findings in by_path.items():
        _file(suite, path, findings, context)
    errors: defaultdict[str, list[str]] = defaultdict(list)
    for error in report.errors:
        errors[error.path].append(error.message)
    for path, messages in errors.items():
        case = _case(suite, path, context.root)
        for message in messages:
            _told(case, "error", message, "unreadable-file", f"{path}: {message}")
    _count(root, suite)
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield from ElementTree.tostring(root, encoding="us-ascii").decode("ascii").split("\n")


def _file(suite: ElementTree.Element, path: str, findings: list[Finding], context: Context) -> None:
    case = _case(suite, path, context.root)
    for finding in findings:
        if finding.severity != "note":
            title = f"{finding.code} {finding.name}: {context.words(finding, finding.message)}"
            _told(case, "failure", title, finding.code, _text(finding, context))
    notes = [_text(finding, context) for finding in findings if finding.severity == "note"]
    if notes:
        ElementTree.SubElement(case, "system-out").text = plain("\n\n".join(notes))


def _case(suite: ElementTree.Element, path: str, root: str) -> ElementTree.Element:
    name = plain(portable(path, root))
    return ElementTree.SubElement(suite, "testcase", classname="shapedoc", name=name, file=name)


def _told(case: ElementTree.Element, tag: str, title: str, kind: str, text: str) -> None:
    ElementTree.SubElement(case, tag, message=one_line(title), type=kind).text = plain(text)


def _text(finding: Finding, context: Context) -> str:
    head = f"{finding.severity}[{finding.code}] {finding.name}: {context.words(finding, finding.message)}"
    shown = snippets(finding, context, PLAIN)
    return "\n".join([head, *shown, *(f"{key}: {text}" for key, text in remarks(finding, context))])


def _count(root: ElementTree.Element, suite: ElementTree.Element) -> None:
    """Say how many test cases there are, and how many of them fail, on the suite and on the whole."""
    cases = suite.findall("testcase")
    for element in (root, suite):
        element.set("tests", str(len(cases)))
        element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
        element.set("errors", str(sum(case.find("error") is not None for case in cases)))
