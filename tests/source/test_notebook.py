"""Notebooks: one text of all code cells, the way back to the cells, and edits that touch nothing else."""

from __future__ import annotations

import json
import random

import pytest

from shapedoc.core.fix import Edit, OverlappingEdits, apply_edits
from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.source.notebook import NotANotebook, Notebook, UneditablePlace

# Two indents, keys out of order, escapes, an empty cell, a source as one string, and no line break at the end.
WRITTEN = (
    '{"nbformat": 4, "cells": [\n'
    '  {"cell_type": "markdown", "source": ["# torch\\n"]},\n'
    '  {"source": [\n'
    '     "import torch  # r\\u00e9sum\\u00e9 \\/\\n",\n'
    '     "!ls\\n",\n'
    '     "x = torch.zeros(2)"\n'
    '   ], "outputs": [{"text": "\\u001b[0m"}], "cell_type": "code"},\n'
    '  {"cell_type": "code", "source": []},\n'
    '  {"cell_type": "code", "source": "y = x\\nz = \\"\\ud83d\\ude00\\"\\n"}\n'
    ' ], "metadata": {}}'
)


def _edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(Span(line, column, end_line, end_column), text)


def _sources(written: str) -> list[str]:
    cells = json.loads(written)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_the_cells_are_one_text_and_every_line_knows_its_cell() -> None:
    notebook = Notebook(WRITTEN)
    assert notebook.text == 'import torch  # résumé /\npass\nx = torch.zeros(2)\ny = x\nz = "😀"\n'
    assert split_lines(notebook.shown)[1] == "!ls\n"
    places = [notebook.within(Span(line, 0, line, 1)) for line in range(1, 6)]
    assert [(cell, span.line) for cell, span in places] == [(2, 1), (2, 2), (2, 3), (4, 1), (4, 2)]


def test_a_span_keeps_its_columns_and_its_length_in_lines() -> None:
    cell, span = Notebook(WRITTEN).within(Span(4, 2, 5, 3))
    assert (cell, span) == (4, Span(1, 2, 2, 3))


def test_a_line_is_written_on_a_line_of_the_file() -> None:
    notebook = Notebook(WRITTEN)
    lines = WRITTEN.split("\n")
    for line, text in ((1, "import torch"), (2, "!ls"), (3, "x = torch"), (4, "y = x"), (5, "y = x")):
        assert text in lines[notebook.file_line(line) - 1]


def test_notebooks_of_format_3_have_worksheets() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "one"},
        {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python"},
        {"cell_type": "code", "input": "ls", "language": "bash"},
    ]
    written = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, {"cells": cells[1:2]}], "metadata": {}})
    notebook = Notebook(written)
    assert notebook.text == "x = 1\ny = 2\nx = 1\ny = 2\n"
    assert [cell.number for cell in notebook.cells] == [2, 4]
    assert notebook.edited([_edit(3, 4, 3, 5, "9")]) == written[::-1].replace('"n\\1 = x"', '"n\\9 = x"', 1)[::-1]


def test_another_language_has_no_python() -> None:
    written = json.dumps(
        {"cells": [{"cell_type": "code", "source": "x <- 1"}], "metadata": {"language_info": {"name": "R"}}}
    )
    assert Notebook(written).cells == []


def test_a_cell_that_does_not_parse_is_blank_and_the_others_are_read() -> None:
    sources = ["x = 1\n", "def f(:\n    pass\n", "    y = 2\n    z = 3\n", "z = 3"]
    notebook = Notebook(json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]}))
    assert notebook.text == "x = 1\n\n\n\n\nz = 3\n"
    assert [(problem.line, problem.column) for problem in notebook.broken] == [(2, 6)]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "is empty"),
        ('{"cells": [', "breaks off before its end"),
        ('{"cells": nothing}', r"is not valid JSON: expecting value \(line 1, column 11\)"),
        ("[]", "has no list of cells"),
        ('{"cells": {}}', "has no list of cells"),
        ('{"cells": [{"cell_type": "code", "source": 3}]}', "has a source in cell 1 that is no text"),
        ("[" * 100_000, "is nested too deeply to be read"),
    ],
)
def test_what_is_no_notebook_says_why(written: str, message: str) -> None:
    with pytest.raises(NotANotebook, match=f"^{message}$"):
        Notebook(written)


def test_an_edit_touches_its_string_and_nothing_else() -> None:
    edited = Notebook(WRITTEN).edited([_edit(3, 16, 3, 17, "5, 7")])
    assert edited == WRITTEN.replace("torch.zeros(2)", "torch.zeros(5, 7)")


def test_what_is_put_in_a_string_is_escaped_as_the_file_escapes() -> None:
    edited = Notebook(WRITTEN).edited([_edit(1, 24, 1, 24, ' "é"'), _edit(5, 5, 5, 6, "ü")])
    assert edited == WRITTEN.replace('\\/\\n"', '\\/ \\"\\u00e9\\"\\n"').replace("\\ud83d\\ude00", "\\u00fc")
    plain = WRITTEN.replace("\\u00e9", "é")
    assert "ü" in Notebook(plain).edited([_edit(5, 5, 5, 6, "ü")])


def test_new_lines_become_strings_of_their_own_in_a_list() -> None:
    edited = Notebook(WRITTEN).edited([_edit(3, 0, 3, 0, "a = 1\nb = 2\n"), _edit(5, 0, 5, 0, "c = 3\n")])
    assert edited == WRITTEN.replace('     "x = torch', '     "a = 1\\n",\n     "b = 2\\n",\n     "x = torch').replace(
        '"y = x\\n', '"y = x\\nc = 3\\n'
    )


def test_lines_that_go_leave_no_string_behind() -> None:
    first = Notebook(WRITTEN).edited([_edit(1, 0, 2, 0, "")])
    assert first == WRITTEN.replace('"import torch  # r\\u00e9sum\\u00e9 \\/\\n",\n     ', "")
    last = Notebook(WRITTEN).edited([_edit(3, 0, 4, 0, "")])
    assert last == WRITTEN.replace(',\n     "x = torch.zeros(2)"', "")
    joined = Notebook(WRITTEN.replace("!ls", "w = 1")).edited([_edit(1, 12, 2, 0, "; ")])
    assert joined == WRITTEN.replace('  # r\\u00e9sum\\u00e9 \\/\\n",\n     "!ls', "; w = 1")
    whole = Notebook(WRITTEN.replace("!ls", "w = 1")).edited([_edit(1, 0, 4, 0, "")])
    assert _sources(whole)[0] == ""


def test_a_line_after_the_last_one_is_put_at_the_end() -> None:
    notebook = Notebook(json.dumps({"cells": [{"cell_type": "code", "source": ["x = 1"]}]}))
    assert _sources(notebook.edited([_edit(2, 0, 2, 0, "y = 2\n")])) == ["x = 1\ny = 2\n"]


def test_edits_that_no_cell_can_take_are_refused() -> None:
    notebook = Notebook(WRITTEN.replace("y = x\\n", "%%time\\n"))
    for edit in (
        _edit(3, 0, 5, 1, ""),
        _edit(2, 0, 2, 4, "x = 1"),
        _edit(1, 3, 2, 2, ""),
        _edit(4, 0, 4, 0, "x = 1\n"),
    ):
        with pytest.raises(UneditablePlace):
            notebook.edited([edit])
    with pytest.raises(OverlappingEdits):
        notebook.edited([_edit(3, 0, 3, 5, "a"), _edit(3, 4, 3, 8, "b")])
    assert notebook.edited([_edit(2, 0, 2, 0, "w = 1\n")]) == notebook.edited([]).replace(
        '"!ls', '"w = 1\\n",\n     "!ls'
    )


@pytest.mark.parametrize("seed", range(40))
def test_any_edits_change_the_sources_as_they_change_the_text(seed: int) -> None:
    draw = random.Random(seed)
    sources = [
        "".join(draw.choice(["a = 1", "é", "b\n", "\n", "'\"'", "\\\n "]) for _ in range(draw.randrange(9)))
        for _ in range(4)
    ]
    sources = [source if _parses(source) else "x = 1\ny = 2\nz = 3" for source in sources]
    listed = [split_lines(source) if draw.random() < 0.7 else source for source in sources]
    document: dict[str, list[dict[str, object]]] = {
        "cells": [{"cell_type": "code", "metadata": {}, "source": source} for source in listed]
    }
    written = json.dumps(document, indent=draw.choice([None, 1, 2]), ensure_ascii=draw.random() < 0.5)
    notebook = Notebook(written)
    cell = draw.choice([cell for cell in notebook.cells if cell.source] or notebook.cells)
    places = [
        (cell.first + i, column)
        for i, line in enumerate(split_lines(cell.source))
        for column in range(len(line.rstrip("\n")) + 1)
    ]
    if not places:
        assert notebook.edited([]) == written
        return
    (line, column), (end_line, end_column) = sorted(draw.choices(places, k=2))
    edit = _edit(line, column, end_line, end_column, draw.choice(["", "new", "two\nlines", "é\n"]))
    local = Edit(notebook.within(edit.span)[1], edit.text)
    number = cell.number - 1
    expected = [*sources[:number], apply_edits(sources[number], [local]), *sources[number + 1 :]]
    edited = notebook.edited([edit])
    assert _sources(edited) == expected
    rest = [{**one, "source": ""} for one in json.loads(edited)["cells"]]
    assert rest == [{**one, "source": ""} for one in document["cells"]]


def _parses(source: str) -> bool:
    notebook = Notebook(json.dumps({"cells": [{"cell_type": "code", "source": source}]}))
    return not notebook.broken and notebook.text.rstrip("\n") == source.rstrip("\n")
