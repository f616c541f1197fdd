"""Folders to files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from shapedoc.core.finding import FileError
from shapedoc.source.discover import discover


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def names(root: Path, *paths: str, exclude: tuple[str, ...] = (), force_exclude: bool = False) -> list[str]:
    found = discover([root / path for path in paths or (".",)], exclude, root, force_exclude=force_exclude)
    assert found.errors == []
    return [path.relative_to(root).as_posix() for path in found.files]


def test_files_are_sorted_and_come_once(tmp_path: Path) -> None:
    tree(tmp_path, "b.py", "a/c.py", "a/b/d.py", "a.txt", "a.pyc", "z.py")
    assert names(tmp_path) == ["a/b/d.py", "a/c.py", "b.py", "z.py"]
    assert names(tmp_path, "z.py", "a", ".", "a/c.py") == ["a/b/d.py", "a/c.py", "b.py", "z.py"]


def test_paths_are_spelled_as_they_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "a/b.py", "c.py")
    monkeypatch.chdir(tmp_path)
    assert [str(path) for path in discover([Path(".")]).files] == [os.path.join("a", "b.py"), "c.py"]
    assert [str(path) for path in discover([Path("a")]).files] == [os.path.join("a", "b.py")]
    assert [str(path) for path in discover([tmp_path / "a"]).files] == [str(tmp_path / "a" / "b.py")]


def test_gitignore_at_every_level(tmp_path: Path) -> None:
    tree(tmp_path, ".git/HEAD", "a.py", "gen_a.py", "build/b.py", "p/gen_b.py", "p/keep.py", "p/q/only.py", "p/q/r.py")
    (tmp_path / ".gitignore").write_text("gen_*.py\n/build/\n")
    (tmp_path / "p" / ".gitignore").write_text("!gen_b.py\nkeep.py\n")
    (tmp_path / "p" / "q" / ".gitignore").write_text("*\n!only.py\n")
    assert names(tmp_path) == ["a.py", "p/gen_b.py", "p/q/only.py"]
    assert names(tmp_path, "p/q") == ["p/q/only.py"]


def test_ignore_files_above_the_folder_count_up_to_the_root_of_the_checkout(tmp_path: Path) -> None:
    tree(tmp_path, "r/.git/HEAD", "r/p/a.py", "r/p/gen.py", "r/p/q/gen.py")
    (tmp_path / ".gitignore").write_text("*.py\n")
    (tmp_path / "r" / ".gitignore").write_text("gen.py\n")
    assert names(tmp_path, "r/p") == ["r/p/a.py"]


def test_the_checkout_has_an_exclude_file_of_its_own(tmp_path: Path) -> None:
    tree(tmp_path, ".git/info/exclude", "p/a.py", "p/b.py")
    (tmp_path / ".git" / "info" / "exclude").write_text("b.py\n")
    assert names(tmp_path, "p") == ["p/a.py"]


def test_without_a_checkout_only_the_searched_folders_count(tmp_path: Path) -> None:
    tree(tmp_path, "p/a.py", "p/b.py")
    (tmp_path / ".gitignore").write_text("*.py\n")
    (tmp_path / "p" / ".gitignore").write_text("b.py\n[\n")
    assert names(tmp_path, "p") == ["p/a.py"]


def test_an_ignored_folder_that_is_named_is_searched(tmp_path: Path) -> None:
    tree(tmp_path, ".git/HEAD", "build/lib/a.py", "build/b.py")
    (tmp_path / ".gitignore").write_text("build/\n")
    assert names(tmp_path) == []
    assert names(tmp_path, "build") == ["build/b.py", "build/lib/a.py"]
    assert names(tmp_path, "build/lib") == ["build/lib/a.py"]


def test_exclude_patterns(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "old/b.py", "p/old/c.py", "p/test_d.py", "p/e.py")
    assert names(tmp_path, exclude=("/old", "test_*.py")) == ["a.py", "p/e.py", "p/old/c.py"]
    assert names(tmp_path, exclude=("old/",)) == ["a.py", "p/e.py", "p/test_d.py"]
    assert names(tmp_path, exclude=("p/**/*.py", "!p/e.py")) == ["a.py", "old/b.py", "p/e.py"]


def test_a_named_file_is_taken_whatever_ignores_it(tmp_path: Path) -> None:
    tree(tmp_path, ".git/HEAD", "a.py", "model.txt")
    (tmp_path / ".gitignore").write_text("*.py\n")
    assert names(tmp_path, "a.py", "model.txt", exclude=("a.py",)) == ["a.py", "model.txt"]
    assert names(tmp_path, "a.py", "model.txt", exclude=("a.py",), force_exclude=True) == ["model.txt"]


def test_a_pattern_that_means_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pattern"):
        discover([tmp_path], ("!",))


def test_environments_and_caches_are_no_code(tmp_path: Path) -> None:
    tree(
        tmp_path, "a.py", ".venv/b.py", "env/pyvenv.cfg", "env/c.py", "__pycache__/d.py", "node_modules/e.py", ".x/f.py"
    )
    assert names(tmp_path) == [".x/f.py", "a.py"]
    assert names(tmp_path, ".venv") == [".venv/b.py"]


def test_links(tmp_path: Path) -> None:
    tree(tmp_path, "p/a.py", "elsewhere/b.py")
    (tmp_path / "p" / "round").symlink_to(tmp_path / "p", target_is_directory=True)
    (tmp_path / "p" / "loop.py").symlink_to(tmp_path / "p" / "loop.py")
    (tmp_path / "p" / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "p" / "linked.py").symlink_to(tmp_path / "elsewhere" / "b.py")
    assert names(tmp_path, "p") == ["p/a.py", "p/linked.py"]
    assert names(tmp_path, "p/round") == ["p/round/a.py", "p/round/linked.py"]


def test_missing_and_unreadable_paths_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "a.py", "closed/b.py")
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    scandir = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = discover([tmp_path, tmp_path / "missing", loop])
    assert found.files == [tmp_path / "a.py"]
    assert found.errors == [
        FileError(str(tmp_path / "closed"), "permission denied"),
        FileError(str(loop), "too many levels of symbolic links"),
        FileError(str(tmp_path / "missing"), "no such file or folder"),
    ]
