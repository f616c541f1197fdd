"""The format ``sarif``: kept to the standard, and its parts as they are written."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeAlias

import jsonschema
import pytest

from shapedoc import __version__
from shapedoc.core.finding import FileError, Finding, Report
from shapedoc.core.fix import Edit, Fix, apply_edits
from shapedoc.core.span import Label, Span
from shapedoc.report import Context, renderer
from shapedoc.report.rule_page import rule_page
from shapedoc.rules import all_rules
from tests.report.conftest import SOURCE
from tests.report.sarif_schema import SARIF

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def _document(report: Report, context: Context) -> Json:
    text = "\n".join(renderer("sarif")(report, context))
    assert text.isascii()
    document: Json = json.loads(text)
    jsonschema.Draft202012Validator(SARIF).validate(document)
    return document


def _at(document: Json, *steps: str | int) -> Json:
    for step in steps:
        match document, step:
            case dict(), str():
                document = document[step]
            case list(), int():
                document = document[step]
            case _:
                raise KeyError(step)
    return document


def _result(finding: Finding, context: Context) -> Json:
    return _at(_document(Report(findings=[finding]), context), "runs", 0, "results", 0)


def _place(line: int, column: int, end_column: int) -> Json:
    return {
        "artifactLocation": {"uri": "attention.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": line, "startColumn": column, "endLine": line, "endColumn": end_column},
    }


def test_a_result_with_everything(report: Report, context: Context) -> None:
    assert _at(_document(report, context), "runs", 0, "results", 0) == {
        "ruleId": "SD101",
        "ruleIndex": 0,
        "level": "error",
        "message": {
            "text": """\
`@` needs equal inner sizes, got `d_head` and `T_enc`
why: a score sums over `d_head`, once for every pair of query and key
note: runs only if d_head == T_enc
help: scores = q @ k.transpose(-2, -1)
more: shapedoc explain SD101"""
        },
        "locations": [
            {
                "physicalLocation": _place(12, 18, 23),
                "logicalLocations": [{"fullyQualifiedName": "Attention.forward", "kind": "function"}],
            }
        ],
        "partialFingerprints": {
            "shapedocFinding/v1": "16dc80c47cea595bde20031b623cc3821a7f2e6f71bdbe5d6c10b875d89a55c3"
        },
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": _place(12, 18, 23),
                "message": {
                    "text": "q (B, H, T_dec, d_head): its last axis is `d_head`; k's second-to-last is `T_enc`"
                },
            },
            {
                "id": 2,
                "physicalLocation": _place(9, 13, 71),
                "message": {"text": "k is (B, H, T_enc, d_head)"},
            },
        ],
        "fixes": [
            {
                "description": {"text": "transpose the last two axes of k"},
                "artifactChanges": [
                    {
                        "artifactLocation": {"uri": "attention.py", "uriBaseId": "%SRCROOT%"},
                        "replacements": [
                            {
                                "deletedRegion": {"startLine": 12, "startColumn": 22, "endLine": 12, "endColumn": 23},
                                "insertedContent": {"text": "k.transpose(-2, -1)"},
                            }
                        ],
                    }
                ],
                "properties": {"safety": "unsafe", "verified": None},
            }
        ],
        "properties": {
            "tensor": "k",
            "actual": "(B, H, T_enc, d_head)",
            "expected": "(B, H, d_head, T_enc)",
            "test": "def test_scores() -> None: ...\n",
        },
    }


def test_a_result_with_little(report: Report, context: Context) -> None:
    assert _at(_document(report, context), "runs", 0, "results", 1) == {
        "ruleId": "SD401",
        "ruleIndex": 1,
        "level": "warning",
        "message": {
            "text": "the weights sum to 1 over `T_dec`, and `T_enc` is summed away\nmore: shapedoc explain SD401"
        },
        "locations": [{"physicalLocation": _place(13, 16, 34)}],
        "partialFingerprints": {
            "shapedocFinding/v1": "e770d9f05b6f97d877fd3d70e195b9e07a909d529d3fc7bdac19d7678e7b61df"
        },
        "properties": {"tensor": "weights", "actual": "(B, H, T_dec, T_enc)"},
    }


def test_an_empty_report(context: Context) -> None:
    assert _document(Report(files=2), context) == {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "shapedoc", "version": __version__, "rules": []}},
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": []}],
                "columnKind": "unicodeCodePoints",
                "results": [],
                "properties": {"files": 2},
            }
        ],
    }


def test_every_rule_is_told_with_its_page(product: Finding, context: Context) -> None:
    rules = all_rules()
    findings = [replace(product, code=rule.code, name=rule.name) for rule in reversed(rules)]
    document = _document(Report(findings=findings), context)
    told = _at(document, "runs", 0, "tool", "driver", "rules")
    assert isinstance(told, list)
    for index, rule in enumerate(rules):
        assert _at(told, index, "id") == rule.code
        assert _at(told, index, "shortDescription", "text") == rule.summary
        assert _at(told, index, "help", "markdown") == rule_page(rule)
        assert _at(document, "runs", 0, "results", len(rules) - 1 - index, "ruleIndex") == index
    assert _at(told, 0, "name") == "MismatchedProduct"


def test_a_code_that_no_rule_has(product: Finding, context: Context) -> None:
    document = _document(Report(findings=[replace(product, code="SD999", name="not-there")]), context)
    assert _at(document, "runs", 0, "tool", "driver", "rules") == [{"id": "SD999", "name": "NotThere"}]


def test_files_that_cannot_be_read(context: Context) -> None:
    document = _document(Report(errors=[FileError("my models\\a.py", "is a\r\nbinary \x00 file")]), context)
    assert _at(document, "runs", 0, "invocations") == [
        {
            "executionSuccessful": False,
            "toolExecutionNotifications": [
                {
                    "level": "error",
                    "message": {"text": "is a\nbinary  file"},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "my%20models/a.py", "uriBaseId": "%SRCROOT%"}
                            }
                        }
                    ],
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    ("path", "uri", "base"),
    [
        ("src\\注意 1.py", "src/%E6%B3%A8%E6%84%8F%201.py", "%SRCROOT%"),
        ("50%#?.py", "50%25%23%3F.py", "%SRCROOT%"),
        ("/nowhere/a b.py", "file:///nowhere/a%20b.py", None),
        ("C:\\nowhere\\a.py", "file:///C:/nowhere/a.py", None),
    ],
)
def test_odd_paths(product: Finding, context: Context, path: str, uri: str, base: str | None) -> None:
    result = _result(replace(product, path=path, labels=(Label(Span(1, 0, 1, 1, "b c.py"), "x"),)), context)
    expected = {"uri": uri, "uriBaseId": base} if base else {"uri": uri}
    assert _at(result, "locations", 0, "physicalLocation", "artifactLocation") == expected
    assert _at(result, "fixes", 0, "artifactChanges", 0, "artifactLocation") == expected
    assert _at(result, "relatedLocations", 0, "physicalLocation", "artifactLocation", "uri") == "b%20c.py"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("one\r\ntwo <b>&amp;</b>", "one\ntwo <b>&amp;</b>"),
        ("heads[0](x) meets x[0] (y)", "heads\\[0](x) meets x[0] (y)"),
        ("f'{0} of {name}'", "f'{{0}} of {name}'"),
        ("red \x1b[31m", "red [31m"),
    ],
)
def test_messages_are_plain_text(context: Context, message: str, text: str) -> None:
    finding = Finding("SD101", "name", "note", "a.py", Span(1, 0, 1, 1), message)
    assert _at(_result(finding, context), "message", "text") == f"{text}\nmore: shapedoc explain SD101"


def test_a_label_without_words_has_no_message(product: Finding, context: Context) -> None:
    result = _result(replace(product, labels=(Label(Span(9, 12, 9, 70), ""),)), context)
    assert _at(result, "relatedLocations", 0) == {"id": 1, "physicalLocation": _place(9, 13, 71)}


def test_a_fix_that_is_only_shown_is_left_out(product: Finding, context: Context) -> None:
    assert product.fix is not None
    for fix in (replace(product.fix, safety="display"), replace(product.fix, edits=()), None):
        result = _result(replace(product, fix=fix), context)
        assert isinstance(result, dict)
        assert "fixes" not in result


def test_a_fix_of_two_files(product: Finding, context: Context) -> None:
    edits = (Edit(Span(1, 0, 1, 0), "import torch\n"), Edit(Span(2, 0, 2, 1, "b.py"), ""), Edit(Span(3, 1, 3, 2), "y"))
    changes = _at(_result(replace(product, fix=Fix("mend", edits, "safe", "reanalysed")), context), "fixes", 0)
    assert _at(changes, "properties") == {"safety": "safe", "verified": "reanalysed"}
    first, second = _at(changes, "artifactChanges", 0), _at(changes, "artifactChanges", 1)
    assert _at(first, "artifactLocation", "uri") == "attention.py"
    assert _at(first, "replacements", 0, "insertedContent", "text") == "import torch\n"
    assert _at(first, "replacements", 1, "insertedContent", "text") == "y"
    assert _at(second, "artifactLocation", "uri") == "b.py"
    assert _at(second, "replacements", 0, "insertedContent", "text") == ""


def test_a_fix_of_the_document_is_the_fix(product: Finding, context: Context) -> None:
    """The region, read as the standard says, is the text that the edit replaces."""
    assert product.fix is not None
    change = _at(_result(product, context), "fixes", 0, "artifactChanges", 0, "replacements", 0)
    region = [_at(change, "deletedRegion", key) for key in ("startLine", "startColumn", "endLine", "endColumn")]
    assert region == [12, 22, 12, 23]
    lines = SOURCE.split("\n")
    lines[11] = lines[11][:21] + "k.transpose(-2, -1)" + lines[11][22:]
    assert "\n".join(lines) == apply_edits(SOURCE, product.fix.edits)


def test_the_schema_refuses(report: Report, context: Context) -> None:
    """What the other tests rest on can fail."""
    validator = jsonschema.Draft202012Validator(SARIF)
    text = json.dumps(_document(report, context))
    for right, wrong in (
        ('"startLine": 12', '"startLine": 0'),
        ('"uri": "attention.py"', '"uri": "../attention.py"'),
        ('"uri": "attention.py"', '"uri": "my attention.py"'),
        ('"level": "warning"', '"level": "critical"'),
        ('"columnKind"', '"columnkind"'),
    ):
        assert right in text
        assert not validator.is_valid(json.loads(text.replace(right, wrong)))
