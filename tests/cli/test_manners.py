"""What a stranger tries, and what is answered."""

from __future__ import annotations

import subprocess
import sys

from tests.cli.project import WRONG, Project


def test_nothing_read_is_not_called_faultless(project: Project) -> None:
    ran = project.run("lint", "nowhere.py")
    assert (ran.returncode, ran.stdout) == (2, "no file was read\n")
    assert ran.stderr == "shapedoc: nowhere.py: no such file or folder\n"
    project.write("a.py", WRONG)
    assert project.run("lint", "--exclude", "*.py", "a.py").stdout == "no file was read\n"


def test_an_empty_folder_says_what_was_looked_for(project: Project) -> None:
    ran = project.run("lint")
    assert (ran.returncode, ran.stderr) == (2, "shapedoc: there are no Python files or notebooks in .\n")


def test_a_name_for_standard_input_needs_standard_input(project: Project) -> None:
    ran = project.run("lint", "--stdin-filename", "a.py")
    assert (ran.returncode, ran.stderr) == (2, "shapedoc: `--stdin-filename` needs `-` in the place of a path\n")


def test_a_full_disk_is_no_fault_of_the_tool(project: Project) -> None:
    project.write("a.py", WRONG)
    for arguments in (["lint", "a.py"], ["--version"]):
        with open("/dev/full", "w") as full:
            ran = subprocess.run(
                [sys.executable, "-m", "shapedoc", *arguments],
                cwd=project.folder,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert (ran.returncode, ran.stderr) == (2, "shapedoc: no space left on device\n")


def test_every_command_says_in_one_line_what_it_does(project: Project) -> None:
    listed = project.run("--help").stdout
    assert "  lint      Find shape faults in files and folders.\n" in listed
    assert "  rules     List every rule.\n" in listed
