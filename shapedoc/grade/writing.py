"""The reports of a run, in a folder: a page for each submission in HTML and Markdown, and one for the class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shapedoc.grade.exports import ExportError, Handing, export, file_names
from shapedoc.grade.exports.formats import json as json_format
from shapedoc.grade.pages import class_page, html, markdown
from shapedoc.grade.result import GradedSubmission

__all__ = ["ExportError", "export", "write_reports"]


def write_reports(results: Sequence[GradedSubmission], out: Path, *, published: bool = False) -> list[Path]:
    """Write the reports, and return the files.

    ``out/NAME.html`` and ``out/NAME.md`` are for the student: hidden items have their property only, and what waits
    for the due date or for publication is told if `published`. ``out/class.html`` and ``out/results.json`` are for the
    instructor, who sees everything. The same results give the same bytes.

    Raises ExportError for a place that cannot be written.
    """
    names = file_names(results)
    written: list[Path] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for result, name in zip(results, names, strict=True):
            written.append(_write(out / f"{name}.html", html.render(result, published=published)))
            written.append(_write(out / f"{name}.md", markdown.render(result, published=published)))
        links = [f"{name}.html" for name in names]
        page = class_page.render(results, links, results[0].language if results else "en")
        written.append(_write(out / "class.html", page))
        written.append(_write(out / "results.json", json_format.render(results, Handing())))
    except OSError as problem:
        raise ExportError(f"cannot write {problem.filename or out}: {problem.strerror}") from None
    return written


def _write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path
