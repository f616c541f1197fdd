"""The formats ``concise`` and ``json``, and the table of formats."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest

from shapedoc import __version__
from shapedoc.core.finding import Finding, Report
from shapedoc.report import Context, UnknownFormat, format_names, renderer


def test_concise_is_one_line_a_finding(report: Report, context: Context) -> None:
    assert list(renderer("concise")(report, context)) == [
        "attention.py:12:18: error[SD101] `@` needs equal inner sizes, got `d_head` and `T_enc`",
        "attention.py:13:16: warning[SD401] the weights sum to 1 over `T_dec`, and `T_enc` is summed away",
        "found 1 error, 1 warning in 3 files",
    ]


def test_concise_counts_when_asked(report: Report, context: Context) -> None:
    twice = replace(report.findings[1], path="b.py")
    lines = renderer("concise")(Report(files=3, findings=[*report.findings, twice]), replace(context, statistics=True))
    assert list(lines)[3:5] == ["2 SD401 softmax-over-wrong-axis", "1 SD101 mismatched-product"]


def test_json_is_the_contract(report: Report, context: Context) -> None:
    document = json.loads("\n".join(renderer("json")(report, context)))
    assert list(document) == ["schema", "tool", "files", "findings", "errors", "statistics"]
    assert document["schema"] == "shapedoc-report/1"
    assert document["tool"] == {"name": "shapedoc", "version": __version__}
    assert document["files"] == 3
    assert document["errors"] == [{"path": "broken.py", "message": "is a binary file"}]
    assert document["findings"][0] == {
        "code": "SD101",
        "name": "mismatched-product",
        "severity": "error",
        "path": "attention.py",
        "cell": None,
        "line": 12,
        "column": 18,
        "end_line": 12,
        "end_column": 23,
        "function": "Attention.forward",
        "message": "`@` needs equal inner sizes, got `d_head` and `T_enc`",
        "tensor": "k",
        "actual": "(B, H, T_enc, d_head)",
        "expected": "(B, H, d_head, T_enc)",
        "labels": [
            {
                "path": "attention.py",
                "cell": None,
                "line": 12,
                "column": 18,
                "end_line": 12,
                "end_column": 23,
                "text": "q (B, H, T_dec, d_head): its last axis is `d_head`; k's second-to-last is `T_enc`",
            },
            {
                "path": "attention.py",
                "cell": None,
                "line": 9,
                "column": 13,
                "end_line": 9,
                "end_column": 71,
                "text": "k is (B, H, T_enc, d_head)",
            },
        ],
        "why": "a score sums over `d_head`, once for every pair of query and key",
        "help": "scores = q @ k.transpose(-2, -1)",
        "fix": {
            "description": "transpose the last two axes of k",
            "safety": "unsafe",
            "verified": None,
            "edits": [
                {
                    "path": "attention.py",
                    "cell": None,
                    "line": 12,
                    "column": 22,
                    "end_line": 12,
                    "end_column": 23,
                    "text": "k.transpose(-2, -1)",
                }
            ],
        },
        "test": "def test_scores() -> None: ...\n",
    }


def test_json_keeps_to_its_schema(report: Report, context: Context) -> None:
    schema = json.loads(files("shapedoc.report").joinpath("schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for told in (report, Report()):
        validator.validate(json.loads("\n".join(renderer("json")(told, context))))
    with pytest.raises(jsonschema.ValidationError, match="Additional properties are not allowed"):
        validator.validate({**json.loads("\n".join(renderer("json")(Report(), context))), "more": 1})


def test_a_span_in_another_file_keeps_its_path(product: Finding, context: Context) -> None:
    away = replace(product.labels[1], span=replace(product.labels[1].span, path="layers.py"))
    document = json.loads("\n".join(renderer("json")(Report(findings=[replace(product, labels=(away,))]), context)))
    assert document["findings"][0]["labels"][0]["path"] == "layers.py"


def test_the_folder_is_the_table() -> None:
    assert format_names() == ("concise", "full", "github", "gitlab", "json", "junit", "sarif")
    with pytest.raises(UnknownFormat, match="no output format is called `xml`; there are: concise, full, github, "):
        renderer("xml")
