"""``shapedoc lint``, as a process on a temporary project."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.project import BROKEN, PYTHON_2, RIGHT, WRONG, Project


def test_a_right_file_is_clean(project: Project) -> None:
    project.write("right.py", RIGHT)
    ran = project.run("lint", "right.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "no faults found in 1 file\n", "")


def test_formats_for_servers_tell_paths_from_the_checkout(project: Project) -> None:
    project.write("right.py", RIGHT)
    project.write("wrong.py", WRONG)
    checkout = project.folder.parent
    at = f"{project.folder.name}/wrong.py"
    command = project.run("lint", "--output-format", "github", environment={"GITHUB_WORKSPACE": str(checkout)})
    assert command.returncode == 1
    assert command.stdout.startswith(f"::error file={at},line=6,endLine=6,col=")
    suite = project.run("lint", "--output-format", "junit", environment={"CI_PROJECT_DIR": str(checkout)})
    assert f'name="{at}"' in suite.stdout
    assert f'name="{project.folder.name}/right.py" file="{project.folder.name}/right.py" />' in suite.stdout


def test_a_wrong_file_exits_with_1_and_the_folder_is_the_default(project: Project) -> None:
    project.write("right.py", RIGHT)
    project.write("wrong.py", WRONG)
    ran = project.run("lint", "--output-format", "concise")
    assert ran.returncode == 1
    assert ran.stdout.startswith("wrong.py:6:")
    assert ran.stdout.endswith("found 1 error in 2 files\n")
    assert project.codes() == [("wrong.py", "SD101")]


def test_a_broken_file_is_a_finding_and_the_rest_goes_on(project: Project) -> None:
    project.write("a.py", BROKEN)
    project.write("b.py", PYTHON_2)
    project.write("c.py", WRONG)
    report = project.report()
    assert [(f["path"], f["code"], f["line"]) for f in report["findings"]] == [
        ("a.py", "SD901", 3),
        ("c.py", "SD101", 6),
    ]
    assert report["errors"] == []


def test_a_file_in_python_2_is_a_note_and_is_counted(project: Project) -> None:
    project.write("b.py", PYTHON_2)
    ran = project.run("lint", "--output-format", "concise")
    told = "1 is written for an older Python and not read (--notes tells which)"
    assert (ran.returncode, ran.stdout) == (0, f"no faults found in 1 file; {told}\n")
    ran = project.run("lint", "--output-format", "concise", "--notes")
    assert (ran.returncode, ran.stdout.splitlines()[1:]) == (0, ["found 1 note in 1 file"])
    assert ran.stdout.startswith("b.py:2:1: note[SD901] the file is written for Python 2: not read")
    assert project.codes("--select", "SD901") == [("b.py", "SD901")]
    assert project.run("lint", "--ignore", "SD901").stdout == "no faults found in 1 file\n"
    project.write("pyproject.toml", '[tool.shapedoc]\nseverity = {SD901 = "error"}\n')
    ran = project.run("lint", "--output-format", "concise")
    assert (ran.returncode, ran.stdout.splitlines()[1:]) == (1, ["found 1 error in 1 file"])


def test_a_file_that_names_no_tensor_library_is_never_parsed(project: Project) -> None:
    project.write("plain.py", "def broken(:\n")
    ran = project.run("lint", ".")
    assert (ran.returncode, ran.stdout) == (0, "no faults found in 1 file\n")


def test_selection_by_option_and_by_project(project: Project) -> None:
    project.write("a.py", BROKEN)
    project.write("wrong.py", WRONG)
    both = [("a.py", "SD901"), ("wrong.py", "SD101")]
    assert project.codes() == both
    assert project.codes("--select", "SD1") == both[1:]
    assert project.codes("--select", "SD1,SD9") == both
    assert project.codes("--ignore", "mismatched-product") == both[:1]
    assert project.codes("--exclude", "a*.py") == both[1:]
    project.write("pyproject.toml", '[tool.shapedoc]\nignore = ["SD9"]\n')
    assert project.codes() == both[1:]
    assert project.codes("--ignore", "SD1") == []
    project.write("other.toml", '[tool.shapedoc]\nselect = ["SD9"]\n')
    assert project.codes("--config", "other.toml") == both[:1]
    assert project.codes("--config", "other.toml", "--select", "ALL") == both
    project.write("pyproject.toml", '[tool.shapedoc.per-file-ignores]\n"wrong.py" = ["ALL"]\n')
    assert project.codes() == both[:1]
    project.write("pyproject.toml", '[tool.shapedoc.severity]\nSD1 = "note"\n')
    assert project.codes() == both[:1]
    assert project.codes("--notes") == both
    assert project.run("lint", "wrong.py").returncode == 0


def test_comments_suppress_and_a_useless_one_is_said(project: Project) -> None:
    line = WRONG.splitlines()[-1]
    project.write("ignore.py", WRONG.replace(line, f"{line}  # shapedoc: ignore[SD101]"))
    project.write("noqa.py", WRONG.replace(line, f"{line}  # noqa: SD101"))
    project.write("skip.py", f"# shapedoc: skip-file\n{WRONG}")
    project.write("useless.py", RIGHT.replace("d = 2", "d = 2") + "x = 1  # shapedoc: ignore[SD401]\n")
    assert project.codes() == [("useless.py", "SD902")]


def test_exit_zero_and_statistics(project: Project) -> None:
    project.write("a.py", WRONG)
    project.write("b.py", WRONG)
    ran = project.run("lint", "--exit-zero", "--statistics", "--output-format", "concise")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[2:] == [
        "2 SD101 mismatched-product",
        "",
        "read 2 files with 12 lines, 2 of them about tensors",
        "6 tensor expressions: rank known of 100.0%, whole shape of 100.0%",
        "found 2 errors in 2 files",
    ]


def test_statistics_say_where_knowledge_is_lost(project: Project) -> None:
    lost = "from elsewhere import mystery\nlost = mystery(scores)\nagain = mystery(scores)\n"
    project.write("a.py", RIGHT + lost)
    project.write("b.py", "x = 1\n")
    first = project.run("lint", "--statistics").stdout
    assert first.splitlines()[:4] == [
        "read 2 files with 10 lines, 1 of them about tensors",
        "6 tensor expressions: rank known of 66.7%, whole shape of 66.7%",
        "knowledge is lost most often by:",
        "  2 no op for elsewhere.mystery (first: a.py:8:8)",
    ]
    assert project.run("lint", "--statistics").stdout == first
    statistics = json.loads(project.run("lint", "--output-format", "json").stdout)["statistics"]
    assert statistics["expressions"] == {"all": 6, "rank": 4, "shape": 4}
    (unknown,) = statistics["unknown"]
    assert (unknown["reason"], unknown["places"], unknown["example"]["line"]) == ("no op for elsewhere.mystery", 2, 8)


def test_standard_input_has_a_name(project: Project) -> None:
    ran = project.run("lint", "-", "--output-format", "concise", stdin=WRONG)
    assert ran.returncode == 1
    assert ran.stdout.startswith("-:6:")
    named = project.run("lint", "-", "--stdin-filename", "src/wrong.py", stdin=WRONG)
    assert named.returncode == 1
    assert "--> src/wrong.py:6:" in named.stdout
    assert "6 | scores = query @ memory" in named.stdout


def test_processes_find_what_one_process_finds_in_the_same_order(project: Project) -> None:
    for number in range(12):
        project.write(f"f{number:02}.py", (WRONG, BROKEN, RIGHT)[number % 3])
    alone = project.run("lint", "--no-cache", "--jobs", "1", "--output-format", "json")
    together = project.run("lint", "--no-cache", "--jobs", "2", "--output-format", "json")
    assert alone.stdout == together.stdout
    assert len(json.loads(alone.stdout)["findings"]) == 8


def test_the_cache_changes_nothing_and_can_be_left_out(project: Project) -> None:
    project.write("wrong.py", WRONG)
    assert project.codes("--no-cache") == [("wrong.py", "SD101")]
    assert not (project.folder / ".shapedoc_cache").exists()
    first = project.run("lint", "--output-format", "json")
    assert list((project.folder / ".shapedoc_cache").glob("*/*.json"))
    assert project.run("lint", "--output-format", "json").stdout == first.stdout
    project.write("wrong.py", RIGHT)
    assert project.codes() == []


def test_without_the_screen_the_same_is_found(project: Project) -> None:
    project.write("right.py", RIGHT)
    project.write("wrong.py", WRONG)
    screened = project.run("lint", "--no-cache", "--output-format", "json")
    assert project.run("lint", "--no-cache", "--no-screen", "--output-format", "json").stdout == screened.stdout


def test_a_source_of_knowledge_can_be_switched_off(project: Project) -> None:
    project.write("wrong.py", WRONG)
    assert project.codes("--without", "driver,comments", "--without", "later-use") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lint", "nothing.py"], "shapedoc: nothing.py: no such file or folder\n"),
        (["lint", "empty"], "shapedoc: there are no Python files or notebooks in empty\n"),
        (["lint", "binary.py"], "shapedoc: binary.py: is a binary file (it holds null bytes)\n"),
        (["lint", "latin.py"], "shapedoc: latin.py: is not utf-8: byte 0xe9 on line 2 cannot be decoded\n"),
        (["lint", "loop.py"], "shapedoc: loop.py: too many levels of symbolic links\n"),
        (["lint", "--config", "bad.toml"], "shapedoc: bad.toml: is not valid TOML: "),
        (["lint", "--config", "none.toml"], "shapedoc: none.toml: cannot be read: No such file or directory\n"),
        (
            ["lint", "--config", "typo.toml"],
            "shapedoc: typo.toml: [tool.shapedoc] has no key `ignroe`; did you mean `ignore`?\n",
        ),
        (["lint", "--select", "SD999"], "shapedoc: `select` names `SD999`, and no rule is called so"),
        (
            ["lint", "--output-format", "jsn"],
            "shapedoc: no output format is called `jsn`; "
            "there are: concise, full, github, gitlab, json, junit, sarif\n",
        ),
        (
            ["lint", "--without", "comment"],
            "shapedoc: `--without` knows comments, driver, constructor, unpacking, later-use, not `comment`; "
            "did you mean `comments`?\n",
        ),
        (["lint", "--jobs", "-1"], "Invalid value for '--jobs' / '-j'"),
        (["lnt"], "there is no command `lnt`; did you mean `lint`?"),
        (["shapes", "nothing.py"], "shapedoc: nothing.py: no such file or directory\n"),
        (["shapes", "broken.py"], "shapedoc: broken.py:3:12: "),
        (["explain", "SD99"], "there is no rule `SD99`; did you mean `SD"),
    ],
)
def test_what_cannot_be_run_is_said_in_words_and_exits_with_2(
    project: Project, arguments: list[str], message: str
) -> None:
    project.write("empty/notes.txt", "")
    project.write("binary.py", b"import torch\x00\x01")
    project.write("latin.py", "import torch\n# caf\u00e9\n".encode("latin-1"))
    project.write("broken.py", BROKEN)
    project.write("bad.toml", "[tool.shapedoc\n")
    project.write("typo.toml", "[tool.shapedoc]\nignroe = []\n")
    (project.folder / "loop.py").symlink_to("loop.py")
    ran = project.run(*arguments)
    assert ran.returncode == 2
    assert message in ran.stderr


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(project: Project) -> None:
    project.write("binary.py", b"import torch\x00\x01")
    project.write("right.py", RIGHT)
    ran = project.run("lint", ".")
    assert ran.returncode == 1
    assert ran.stdout == "no faults found in 1 file\n"
    assert ran.stderr == "shapedoc: binary.py: is a binary file (it holds null bytes)\n"
    assert project.report(".")["errors"] == [{"path": "binary.py", "message": "is a binary file (it holds null bytes)"}]


def test_a_folder_that_links_to_itself_is_read_once(project: Project) -> None:
    project.write("package/wrong.py", WRONG)
    (project.folder / "package" / "again").symlink_to("..", target_is_directory=True)
    assert project.codes(".") == [("package/wrong.py", "SD101")]


def test_colours_follow_the_environment(project: Project) -> None:
    project.write("wrong.py", WRONG)
    assert "\x1b[" not in project.run("lint").stdout
    assert "\x1b[1;31merror[SD101]" in project.run("lint", environment={"FORCE_COLOR": "1"}).stdout


def test_a_reader_that_goes_away_is_no_fault(project: Project) -> None:
    for number in range(40):
        project.write(f"w{number}.py", WRONG * 30)
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        ran = subprocess.run(
            [sys.executable, "-m", "shapedoc", "lint", "--no-cache"],
            cwd=project.folder,
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (ran.returncode, ran.stderr) == (1, "")


LAYERS = """\
def scores(query, key):
    return query @ key.transpose(-2, -1)
"""
MODEL = """\
import torch
from layers import scores

values = torch.randn(2, 5, 7)
weights = scores(torch.randn(2, 3, 7), torch.randn(2, 5, 7))
context = weights @ values.transpose(-2, -1)
"""


def test_imports_are_followed_and_a_change_in_them_is_seen(project: Project) -> None:
    project.write("model.py", MODEL)
    assert project.codes("model.py") == []
    project.write("layers.py", LAYERS)
    assert project.codes("model.py") == [("model.py", "SD101")]
    project.write("layers.py", LAYERS.replace("query @ key.transpose(-2, -1)", "query"))
    assert project.codes("model.py") == []
    project.write("layers.py", LAYERS)
    assert project.codes(".") == [("model.py", "SD101")]
