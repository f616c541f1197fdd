"""Findings as plain data, and back: what a cache entry holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.fix import Edit, Fix, Safety, Verified
from shapedoc.core.span import Label, Span
from shapedoc.core.statistics import Loss, Understanding

__all__ = [
    "NotStored",
    "finding_from_plain",
    "finding_to_plain",
    "understanding_from_plain",
    "understanding_to_plain",
]


class NotStored(ValueError):
    """Data that is no finding."""


def finding_to_plain(finding: Finding) -> dict[str, object]:
    """Return `finding` as dictionaries, lists, texts and numbers."""
    return asdict(finding)


def finding_from_plain(data: object) -> Finding:
    """Return the finding that `data` is.

    Raises NotStored when it is none.
    """
    match data:
        case {
            "code": str(code),
            "name": str(name),
            "severity": "error" | "warning" | "note" as severity,
            "path": str(path),
            "span": span,
            "message": str(message),
            "function": str(function),
            "tensor": str(tensor),
            "actual": str(actual),
            "expected": str(expected),
            "why": str(why),
            "help": str(help_),
            "labels": [*labels],
            "notes": [*notes],
            "fix": fix,
            "test": None | str() as test,
            "reached": reached,
            "causes": [*causes],
        }:
            return Finding(
                code,
                name,
                cast(Severity, severity),
                path,
                _span(span),
                message,
                function=function,
                tensor=tensor,
                actual=actual,
                expected=expected,
                labels=tuple(_label(label) for label in labels),
                why=why,
                help=help_,
                notes=tuple(str(note) for note in notes),
                fix=_fix(fix),
                test=test,
                reached=None if reached is None else _span(reached),
                causes=tuple(str(cause) for cause in causes),
            )
        case _:
            raise NotStored("not a finding")


def understanding_to_plain(known: Understanding) -> dict[str, object]:
    """Return `known` as dictionaries, lists, texts and numbers."""
    return asdict(known)


def understanding_from_plain(data: object) -> Understanding:
    """Return the understanding that `data` is.

    Raises NotStored when it is none.
    """
    match data:
        case {"expressions": int(expressions), "rank": int(rank), "shape": int(shape), "losses": [*losses]}:
            return Understanding(expressions, rank, shape, tuple(_loss(loss) for loss in losses))
        case _:
            raise NotStored("not an understanding")


def _loss(data: object) -> Loss:
    match data:
        case {"reason": str(reason), "places": int(places), "path": str(path), "span": span}:
            return Loss(reason, places, path, _span(span))
        case _:
            raise NotStored("not a loss")


def _span(data: object) -> Span:
    match data:
        case {
            "line": int(line),
            "column": int(column),
            "end_line": int(end_line),
            "end_column": int(end_column),
            "path": str(path),
        }:
            return Span(line, column, end_line, end_column, path)
        case _:
            raise NotStored("not a span")


def _label(data: object) -> Label:
    match data:
        case {"span": span, "text": str(text)}:
            return Label(_span(span), text)
        case _:
            raise NotStored("not a label")


def _fix(data: object) -> Fix | None:
    match data:
        case None:
            return None
        case {
            "description": str(description),
            "edits": [*edits],
            "safety": "safe" | "unsafe" | "display" as safety,
            "verified": None | "reanalysed" | "executed" as verified,
        }:
            return Fix(
                description,
                tuple(_edit(edit) for edit in edits),
                cast(Safety, safety),
                cast("Verified | None", verified),
            )
        case _:
            raise NotStored("not a fix")


def _edit(data: object) -> Edit:
    match data:
        case {"span": span, "text": str(text)}:
            return Edit(_span(span), text)
        case _:
            raise NotStored("not an edit")
