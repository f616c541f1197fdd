"""Files are replaced whole, or left alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from shapedoc.source.write import replace_file


def test_the_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o640)
    assert replace_file(path, b"old", b"new") is None
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"somebody else's")
    problem = replace_file(path, b"old", b"new")
    assert problem is not None
    assert problem.message == "has changed meanwhile and was left as it is"
    assert path.read_bytes() == b"somebody else's"
    assert os.listdir(tmp_path) == ["a.py"]


def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    place = tmp_path / "real" / "a.py"
    place.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to(place)
    assert replace_file(link, b"old", b"new") is None
    assert link.is_symlink()
    assert place.read_bytes() == b"new"


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    problem = replace_file(tmp_path / "a.py", b"old", b"new")
    assert problem is not None
    assert problem.message == "cannot be written: no such file or directory"
    assert os.listdir(tmp_path) == []


def test_a_failure_on_the_way_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    problem = replace_file(path, b"old", b"new")
    assert problem is not None
    assert problem.message == "cannot be written: no space left on device"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_file_without_leave_to_write_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    problem = replace_file(path, b"old", b"new")
    assert problem is not None
    assert problem.message == "cannot be written: permission denied"
    assert path.read_bytes() == b"old"
