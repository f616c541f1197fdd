"""``sarif``: the Static Analysis Results Interchange Format, 2.1.0, which code scanning services read.

Columns count characters (code points) from 1, and the end column is the one after the last, as the standard has it.
A notebook's file is JSON: its regions are the lines of that file on which the code is written, the cell is a logical
location, and no fix is described, since a reader would apply it to the JSON.
Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.core.fix import Fix
from shapedoc.core.span import Label, Span
from shapedoc.report.context import Context
from shapedoc.report.fingerprint import fingerprints
from shapedoc.report.places import is_relative, portable, uri
from shapedoc.report.plain import plain
from shapedoc.report.remarks import told
from shapedoc.report.rule_page import rule_page
from shapedoc.rules import Rule, all_rules
from shapedoc.version import __version__

__all__ = ["SCHEMA", "render"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def render(report: Report, context: Context) -> Iterator[str]:
    """Yield one JSON document with one run."""
    codes = sorted({finding.code for finding in report.findings})
    run: dict[str, Json] = {
        "tool": {"driver": _driver(report, codes)},
        "invocations": [_invocation(report, context.root)],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, mark, codes.index(finding.code), context)
            for finding, mark in fingerprints(report, context)
        ],
        "properties": {"files": report.files},
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _driver(report: Report, codes: list[str]) -> dict[str, Json]:
    rules = {rule.code: rule for rule in all_rules()}
    names = {finding.code: finding.name for finding in report.findings}
    return {
        "name": "shapedoc",
        "version": __version__,
        "rules": [
            _rule(rules[code]) if code in rules else {"id": code, "name": _pascal(names[code])} for code in codes
        ],
    }


def _rule(rule: Rule) -> dict[str, Json]:
    """Describe a rule, its whole page included: the page needs no server, and fits the version that found the fault."""
    page = rule_page(rule)
    return {
        "id": rule.code,
        "name": _pascal(rule.name),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.what.strip()},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.name, "correctness"], "kind": rule.kind},
    }


def _pascal(name: str) -> str:
    """``softmax-over-wrong-axis`` as ``SoftmaxOverWrongAxis``, the form that the standard recommends."""
    return "".join(word.capitalize() for word in name.split("-"))


def _invocation(report: Report, root: str) -> dict[str, Json]:
    return {
        "executionSuccessful": not report.errors,
        "toolExecutionNotifications": [_notification(error, root) for error in report.errors],
    }


def _notification(error: FileError, root: str) -> dict[str, Json]:
    return {
        "level": "error",
        "message": _message(error.message),
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(error.path, root)}}],
    }


def _result(finding: Finding, fingerprint: str, index: int, context: Context) -> dict[str, Json]:
    location: dict[str, Json] = {"physicalLocation": _physical(finding.path, finding.span, context)}
    if logical := _logical(finding, context):
        location["logicalLocations"] = logical
    result: dict[str, Json] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity,
        "message": _message(told(finding, context)),
        "locations": [location],
        "partialFingerprints": {"shapedocFinding/v1": fingerprint},
    }
    if finding.labels:
        result["relatedLocations"] = [
            _related(number, label, finding, context) for number, label in enumerate(finding.labels, 1)
        ]
    in_notebook = context.place(finding.path, finding.span).cell is not None
    if finding.fix and finding.fix.edits and finding.fix.safety != "display" and not in_notebook:
        result["fixes"] = [_fix(finding.fix, finding.path, context.root)]
    if properties := _properties(finding, context):
        result["properties"] = properties
    return result


def _logical(finding: Finding, context: Context) -> list[Json]:
    """The cell of a notebook and the function in which a finding lies."""
    cell = context.place(finding.path, finding.span).cell
    logical: list[Json] = []
    if cell is not None:
        logical.append({"name": f"cell {cell}", "kind": "module"})
    if finding.function:
        logical.append({"fullyQualifiedName": finding.function, "kind": "function"})
    return logical


def _related(number: int, label: Label, finding: Finding, context: Context) -> dict[str, Json]:
    location: dict[str, Json] = {"id": number, "physicalLocation": _physical(finding.path, label.span, context)}
    text = context.words(finding, label.text)
    return {**location, "message": _message(text)} if text else location


def _properties(finding: Finding, context: Context) -> dict[str, Json]:
    place = context.place(finding.path, finding.span)
    stated: dict[str, Json] = {
        "tensor": finding.tensor,
        "actual": finding.actual,
        "expected": finding.expected,
        "test": finding.test,
        "cell": place.cell,
        "cellLine": None if place.cell is None else place.span.line,
        "cellColumn": None if place.cell is None else place.span.column + 1,
    }
    return {key: value for key, value in stated.items() if value not in ("", None)}


def _fix(fix: Fix, path: str, root: str) -> dict[str, Json]:
    """Describe the edits; one that is only to be shown is left out by the caller, since readers apply fixes."""
    by_path: dict[str, list[Json]] = {}
    for edit in fix.edits:
        replacement: dict[str, Json] = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
        by_path.setdefault(edit.span.path or path, []).append(replacement)
    return {
        "description": _message(fix.description),
        "artifactChanges": [
            {"artifactLocation": _artifact(where, root), "replacements": replacements}
            for where, replacements in by_path.items()
        ],
        "properties": {"safety": fix.safety, "verified": fix.verified},
    }


def _physical(path: str, span: Span, context: Context) -> dict[str, Json]:
    place = context.place(path, span)
    first, last = context.file_lines(path, span)
    whole: dict[str, Json] = {"startLine": first, "endLine": last}
    region = _region(span) if place.cell is None else whole
    return {"artifactLocation": _artifact(place.path, context.root), "region": region}


def _artifact(path: str, root: str) -> dict[str, Json]:
    place = portable(path, root)
    return {"uri": uri(place), "uriBaseId": "%SRCROOT%"} if is_relative(place) else {"uri": uri(place)}


def _region(span: Span) -> dict[str, Json]:
    return {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }


def _message(text: str) -> dict[str, Json]:
    r"""Return a message of plain text, in which ``[0](x)`` is no link and ``{0}`` is no placeholder.

    Source: SARIF 2.1.0, 3.11.5 Messages with placeholders, 3.11.6 Messages with embedded links.
    """
    unlinked = re.sub(r"\[(?=[^\[\]]*\]\()", r"\\[", plain(text))
    return {"text": re.sub(r"\{(\d+)\}", r"{{\1}}", unlinked)}
