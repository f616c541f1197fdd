"""What is handed in, in every form that a folder of submissions holds; each wrong one says what is wrong with it."""

from __future__ import annotations

import json
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from shapedoc.grade.messages import tell
from shapedoc.grade.submission import Entry, Submission, find, read

GOOD = "import torch\n\ndef masked_softmax(scores, lengths):\n    return scores\n"
TARGETS = ("masked_softmax",)


def _read(path: Path) -> Submission:
    return read(Entry(path.stem, path), TARGETS)


def _problem(path: Path) -> str:
    submission = _read(path)
    assert submission.problem is not None
    return tell("en", submission.problem)


def _notebook(*cells: str) -> str:
    code = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _zip(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_file_is_its_text(tmp_path: Path) -> None:
    file = tmp_path / "ada.py"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    submission = _read(file)
    assert submission.problem is None
    assert submission.text == GOOD


def test_of_a_notebook_the_definitions_are_taken_on_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "ada.ipynb"
    cells = (
        "%matplotlib inline\nimport torch; print('x'); import math\nsize = 3\nscale = size * 10 ** 9\n",
        "x = torch.randn(3)\n@torch.no_grad()\ndef masked_softmax(scores, lengths):\n    return scores\nx += 1",
        "def broken(:\n",
    )
    file.write_text(_notebook(*cells[:2]))
    submission = _read(file)
    assert submission.problem is None
    assert submission.text.split("\n") == [
        "",
        "import torch; import math",
        "size = 3",
        "",
        "",
        "@torch.no_grad()",
        "def masked_softmax(scores, lengths):",
        "    return scores",
        "",
        "",
    ]
    file.write_text(_notebook(*cells))
    assert _problem(file) == "line 1 of cell 3 is not Python: invalid syntax"


def test_a_folder_and_an_archive_are_searched_for_the_file_that_defines(tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "answer.py").write_text(GOOD)
    (folder / "other.py").write_text("def other(): pass\n")
    (folder / ".hidden.py").write_text(GOOD)
    assert _read(folder).file == "deep/answer.py"
    archive = _zip(tmp_path / "bob.zip", {"a/answer.py": GOOD, "a/other.py": "x = 1\n", "__MACOSX/._answer.py": "\0"})
    assert (_read(archive).file, _read(archive).text) == ("a/answer.py", GOOD)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the submission is empty"),
        ("  \n\n", "the submission is empty"),
        ("# nothing yet\n", "the submission is empty"),
        ("x = 1\ny = (\n", "line 2 is not Python: '(' was never closed"),
        ("def masked_softmx(): pass\n", "you defined `masked_softmx`, and `masked_softmax` is asked for: rename it"),
        ("# masked_softmax\ndef f(): pass\n", "`masked_softmax` is not defined in it; defined are: `f`"),
        ("print('hello')\n", "`masked_softmax` is not defined in it, and nothing else is"),
        ("-" * 100_000 + "1", "line 1 is not Python: the code is nested too deeply to be analysed"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_graded_says_why(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "ada.py"
    file.write_text(text)
    assert _problem(file) == said


@pytest.mark.parametrize(
    "text",
    [
        "def _good(s, l): pass\nmasked_softmax = _good\n",
        "from somewhere import masked_softmax\n",
        "try:\n    def masked_softmax(): pass\nexcept ValueError:\n    pass\n",
        "a, (masked_softmax, b) = 1, (2, 3)\n",
        "globals()['masked_' + 'softmax'] = 1\n",
    ],
)
def test_names_are_bound_in_many_ways(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ada.py"
    file.write_text(text)
    assert _read(file).problem is None


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "ada.py"
    file.write_bytes(GOOD.encode() + b"# \xff\n")
    assert _problem(file) == "the file is not utf-8: byte 0xff on line 5 cannot be decoded"
    file.write_bytes(b"\x7fELF\0\0")
    assert _problem(file) == "the file is a binary file (it holds null bytes)"


def test_notebooks_that_hold_nothing(tmp_path: Path) -> None:
    file = tmp_path / "ada.ipynb"
    for cells in ((), ("print(1)",), ("# def masked_softmax(): pass",)):
        file.write_text(_notebook(*cells))
        assert _problem(file).startswith("the notebook holds no function and no class")
    file.write_text("{")
    assert _problem(file) == "the file is no notebook: it breaks off before its end"


def test_fifty_megabytes_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "ada.py"
    with file.open("wb") as sparse:
        sparse.truncate(50 << 20)
    assert _problem(file) == "it has 50.0 MB; a submission has at most 10 MB"
    file.write_text(GOOD + "# " + "a" * (2 << 20))
    assert _problem(file) == "it has 2.0 MB; a submission has at most 1 MB"


def test_two_files_with_the_function(tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(GOOD)
    assert _problem(folder) == "two files define `masked_softmax`: a.py and b.py; hand in one of them"
    for file in folder.iterdir():
        file.unlink()
    assert _problem(folder) == "there is no .py or .ipynb file in it"


def test_archives_that_are_no_gift(tmp_path: Path) -> None:
    bomb = _zip(tmp_path / "bomb.zip", {f"{n}.py": b"#" * (6 << 20) for n in range(4)})
    assert _problem(bomb) == "the zip archive unpacks to more than 20 MB"
    for name in ("../../climbs.py", "/etc/climbs.py", "a\\..\\..\\climbs.py", "C:/climbs.py"):
        assert _problem(_zip(tmp_path / "climbs.zip", {name: GOOD})).startswith(
            "the zip archive holds a path that climbs out of it"
        )
    assert not list(tmp_path.parent.rglob("climbs.py"))
    many = _zip(tmp_path / "many.zip", {f"{n}.py": "" for n in range(1001)})
    assert _problem(many) == "the zip archive holds more than 1000 files"
    link = zipfile.ZipInfo("link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert _problem(tmp_path / "link.zip") == "the zip archive holds a link: link.py"
    (tmp_path / "no.zip").write_bytes(b"PK\3\4 no")
    assert _problem(tmp_path / "no.zip") == "the zip archive cannot be read: file is not a zip file"
    whole = _zip(tmp_path / "torn.zip", {"a.py": GOOD * 50}).read_bytes()
    (tmp_path / "torn.zip").write_bytes(whole[:60] + b"\xff" * 8 + whole[68:])
    assert "cannot be read" in _problem(tmp_path / "torn.zip")


def test_an_archive_that_lies_about_its_sizes(tmp_path: Path) -> None:
    path = _zip(tmp_path / "liar.zip", {"a.py": b"#" * (40 << 20)})
    data = bytearray(path.read_bytes())
    for at in (data.find(b"PK\3\4") + 22, data.find(b"PK\1\2") + 24):
        data[at : at + 4] = struct.pack("<I", 10)
    path.write_bytes(data)
    assert _problem(path).startswith(("the zip archive cannot be read", "the zip archive unpacks to more"))


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert _problem(tmp_path / "pipe.py") == "the file is not a regular file"
    (tmp_path / "essay.docx").write_text("x")
    assert _problem(tmp_path / "essay.docx").startswith("it is neither a .py or .ipynb file")


def test_names_are_unique_and_in_order(tmp_path: Path) -> None:
    for name in ("bob.py", "ada.py", "ada.ipynb", "cy/answer.py", "notes.md", ".git/x.py", "dora.rar"):
        file = tmp_path / "all" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(GOOD)
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "bob.py").write_text(GOOD)
    names = [entry.name for entry in find([tmp_path / "all", tmp_path / "late", tmp_path / "all" / "bob.py"])]
    assert names == ["ada.ipynb", "ada.py", "bob.py", "cy", "dora", "late-bob.py"]
    with pytest.raises(FileNotFoundError):
        find([tmp_path / "nothing"])
