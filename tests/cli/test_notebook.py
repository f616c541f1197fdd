"""``shapedoc`` on notebooks, as a process on a temporary project."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from tests.cli.project import RIGHT, WRONG, Project

_CODE, _TEXT = "code", "markdown"


def _notebook(*cells: tuple[str, str], language: str = "python") -> str:
    """A notebook as Jupyter writes it."""
    listed: list[dict[str, object]] = [
        {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
        | ({"execution_count": None, "outputs": []} if kind == _CODE else {})
        for kind, source in cells
    ]
    metadata = {"language_info": {"name": language}}
    return json.dumps({"cells": listed, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


_SETUP, _, _LAST = WRONG.rpartition("scores")
_FAULTY = _notebook(
    (_TEXT, "# torch\n"), (_CODE, f"%matplotlib inline\n{_SETUP}"), (_TEXT, "then"), (_CODE, f"!ls\nscores{_LAST}")
)
_FULL = """\
error[SD101] mismatched-product: `@` needs equal inner sizes, got `d` (7) and `T_enc` (5)
 --> attention.ipynb:cell 4:2:10
  |
2 | scores = query @ memory
  |          ^^^^^^^^^^^^^^ memory is (batch_size, T_enc, d), should be (batch_size, d, T_enc)
 ::: attention.ipynb:cell 2:5:9
  |
5 | query = torch.randn(batch_size, T_dec, d)
  |         --------------------------------- query is (batch_size, T_dec, d)
6 | memory = torch.randn(batch_size, T_enc, d)
  |          --------------------------------- memory is (batch_size, T_enc, d)
"""


def test_a_notebook_is_found_in_a_folder_and_shown_by_cell(project: Project) -> None:
    project.write("attention.ipynb", _FAULTY)
    ran = project.run("lint")
    assert ran.returncode == 1
    assert ran.stdout.startswith(_FULL)
    again = project.run("lint", "--output-format", "concise")
    assert again.stdout.startswith("attention.ipynb:cell 4:2:10: error[SD101] `@` needs")


def test_every_format_says_where_in_the_notebook(project: Project) -> None:
    path = project.write("attention.ipynb", _FAULTY)
    lines = path.read_text().split("\n")
    on = next(number for number, line in enumerate(lines, 1) if "query @ memory" in line)
    above = next(number for number, line in enumerate(lines, 1) if "query = torch" in line)

    (finding,) = project.report()["findings"]
    assert (finding["path"], finding["cell"], finding["line"], finding["column"]) == ("attention.ipynb", 4, 2, 10)
    labels = finding["labels"]
    assert isinstance(labels, list)
    assert [(label["cell"], label["line"]) for label in labels] == [(2, 5), (2, 6)]

    github = project.run("lint", "--output-format", "github").stdout
    assert github.startswith(
        f"::error file=attention.ipynb,line={on},endLine={on},title=SD101 mismatched-product::cell 4"
    )

    (issue,) = json.loads(project.run("lint", "--output-format", "gitlab").stdout)
    assert issue["location"] == {"path": "attention.ipynb", "lines": {"begin": on, "end": on}}
    assert issue["description"].startswith("cell 4: mismatched-product: ")

    (run,) = json.loads(project.run("lint", "--output-format", "sarif").stdout)["runs"]
    (result,) = run["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": on, "endLine": on}
    assert location["logicalLocations"] == [{"name": "cell 4", "kind": "module"}]
    assert result["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": above, "endLine": above}
    assert result["message"]["text"].startswith("cell 4, line 2: ")
    assert (result["properties"]["cell"], result["properties"]["cellLine"], result["properties"]["cellColumn"]) == (
        4,
        2,
        10,
    )

    failure = ElementTree.fromstring(project.run("lint", "--output-format", "junit").stdout).find(".//failure")
    assert failure is not None
    assert "--> attention.ipynb:cell 4:2:10" in (failure.text or "")


def test_the_cache_gives_the_same_cells_again(project: Project) -> None:
    project.write("attention.ipynb", _FAULTY)
    first = project.run("lint").stdout
    assert project.run("lint").stdout == first


def test_a_comment_in_a_cell_silences(project: Project) -> None:
    silenced = _FAULTY.replace("query @ memory", "query @ memory  # shapedoc: ignore[SD101]")
    assert silenced != _FAULTY
    project.write("attention.ipynb", silenced)
    assert project.run("lint").stdout == "no faults found in 1 file\n"
    unused = _notebook((_TEXT, "one"), (_CODE, "import torch\nx = 1  # shapedoc: ignore[SD101]\n"))
    project.write("attention.ipynb", unused)
    assert project.run("lint", "--output-format", "concise").stdout.startswith(
        "attention.ipynb:cell 2:2:8: warning[SD902]"
    )


def test_a_broken_cell_is_a_finding_and_the_others_are_read(project: Project) -> None:
    project.write("attention.ipynb", _notebook((_CODE, "def f(:\n"), (_CODE, WRONG), (_CODE, "x = = 1")))
    found = project.report()["findings"]
    assert [(f["code"], f["cell"], f["line"], f["column"]) for f in found] == [
        ("SD901", 1, 1, 7),
        ("SD101", 2, 6, 10),
        ("SD901", 3, 1, 5),
    ]
    assert found[0]["message"] == "the cell does not parse: invalid syntax"


@pytest.mark.parametrize(
    "gap", ["weights = <YOUR CODE>", "<...>", "    return <your code: the context>", "f(<SIZE>, 2)"]
)
def test_a_cell_with_a_gap_to_fill_in_is_no_fault(project: Project, gap: str) -> None:
    project.write("exercise.ipynb", _notebook((_CODE, "import torch\n" + gap), (_CODE, WRONG)))
    assert [(f["code"], f["cell"]) for f in project.report()["findings"]] == [("SD101", 2)]


def test_a_notebook_of_python_2_says_so_once(project: Project) -> None:
    project.write("old.ipynb", _notebook((_CODE, "import torch\nprint 'a'"), (_CODE, "print 'b'")))
    assert project.report()["findings"] == []
    (finding,) = project.report("--notes")["findings"]
    assert (finding["cell"], finding["line"]) == (1, 2)
    assert finding["message"] == "the cell is written for Python 2: not read"


def test_a_broken_notebook_is_an_error_and_the_run_goes_on(project: Project) -> None:
    project.write("broken.ipynb", _FAULTY[:200])
    project.write("list.ipynb", '["torch"]')
    project.write("empty.ipynb", "")
    project.write("text.ipynb", _notebook((_TEXT, "# torch")))
    project.write("r.ipynb", _notebook((_CODE, "library(torch)\nx <- 1"), language="R"))
    project.write("right.ipynb", _notebook((_CODE, RIGHT)))
    ran = project.run("lint", "--output-format", "concise")
    assert ran.returncode == 1
    assert ran.stdout == "no faults found in 3 files\n"
    assert ran.stderr == (
        "shapedoc: broken.ipynb: is no notebook: it breaks off before its end\n"
        "shapedoc: empty.ipynb: is no notebook: it is empty\n"
        "shapedoc: list.ipynb: is no notebook: it has no list of cells\n"
    )


def test_a_notebook_comes_through_standard_input_by_its_name(project: Project) -> None:
    ran = project.run("lint", "-", "--stdin-filename", "attention.ipynb", stdin=_FAULTY)
    assert ran.stdout.startswith(_FULL)


def test_shapes_stand_beside_the_lines_of_cells(project: Project) -> None:
    project.write(
        "a.ipynb",
        _notebook((_CODE, "import torch\n%cd ..\n"), (_TEXT, "-"), (_CODE, "x = torch.zeros(3, 4)\ny = f(x)")),
    )
    assert project.run("shapes", "a.ipynb").stdout == (
        "cell 1\n1 | import torch\n2 | %cd ..\n\ncell 3\n1 | x = torch.zeros(3, 4)  x (3, 4)\n2 | y = f(x)\n"
    )
    unknown = _notebook((_CODE, "import torch\n\n"), (_CODE, "x = torch.some_new_operation(torch.zeros(3))"))
    project.write("a.ipynb", unknown)
    assert project.run("shapes", "--unknown", "a.ipynb").stdout.startswith("a.ipynb:cell 2:1:5: ")
    project.write("a.ipynb", _notebook((_TEXT, "-")))
    ran = project.run("shapes", "a.ipynb")
    assert (ran.returncode, ran.stderr) == (2, "shapedoc: a.ipynb: this notebook has no Python cells\n")
