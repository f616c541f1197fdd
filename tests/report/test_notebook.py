"""Findings in notebooks, told by cell and by line of the cell."""

from __future__ import annotations

import json

from shapedoc.core.finding import Finding, Report
from shapedoc.core.span import Label, Span
from shapedoc.report import Context, renderer
from shapedoc.source.notebook import Notebook

_NOTEBOOK = Notebook(
    json.dumps(
        {"cells": [{"cell_type": "code", "source": source} for source in ("import torch\n\n", "x = 1\ny = x\n")]}
    )
)
_FINDING = Finding(
    code="SD206",
    name="squeeze-drops-batch",
    severity="error",
    path="a.ipynb",
    span=Span(4, 4, 4, 5),
    message="made on line 3",
    labels=(Label(Span(1, 0, 1, 6, "other.py"), "line 3 of it"),),
    notes=("line 4 takes the axis for the batch",),
)


def _context(notebook: Notebook | None) -> Context:
    notebooks = {"a.ipynb": notebook}
    texts = {"a.ipynb": _NOTEBOOK.shown}
    return Context(text_of=texts.get, notebook_of=notebooks.get)


def test_lines_that_a_text_names_are_those_of_the_cell() -> None:
    told = "\n".join(renderer("full")(Report(files=1, findings=[_FINDING]), _context(_NOTEBOOK)))
    assert "squeeze-drops-batch: made on cell 2, line 1" in told
    assert "--> a.ipynb:cell 2:2:5" in told
    assert "::: other.py:1:1" in told
    assert "note: cell 2, line 2 takes the axis for the batch" in told


def test_in_a_file_they_are_those_of_the_file() -> None:
    told = "\n".join(renderer("full")(Report(files=1, findings=[_FINDING]), _context(None)))
    assert "squeeze-drops-batch: made on line 3" in told
    assert "--> a.ipynb:4:5" in told
