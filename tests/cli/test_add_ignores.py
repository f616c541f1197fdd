"""``shapedoc lint --add-ignores``, as a process."""

from __future__ import annotations

from tests.cli.project import BROKEN, WRONG, Project


def test_what_was_written_and_what_is_left_is_said(project: Project) -> None:
    project.write("a.py", WRONG)
    project.write("b.py", BROKEN)
    ran = project.run("lint", "--add-ignores")
    assert ran.returncode == 1
    assert ran.stdout == "a.py:6: ignore[SD101]\nwrote 1 comment in 1 file\n"
    assert ran.stderr == "b.py:3:12: left: SD901 syntax-error\n"
    assert project.run("lint", "a.py").stdout == "no faults found in 1 file\n"
    again = project.run("lint", "--add-ignores", "a.py")
    assert (again.returncode, again.stdout, again.stderr) == (0, "wrote no comments\n", "")


def test_standard_input_is_no_file_to_change(project: Project) -> None:
    ran = project.run("lint", "--add-ignores", "-", stdin=WRONG)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "shapedoc: `--add-ignores` changes files, and standard input is none\n"
