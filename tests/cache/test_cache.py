"""The cache: right or absent, never wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from shapedoc.cache import Cache, digest_of_file

RESULT = {"findings": [{"code": "SD101"}]}


def _entry(folder: Path) -> Path:
    (entry,) = folder.glob("*/*.json")
    return entry


def test_what_is_put_is_got(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c")
    key = cache.key("x = 1", "options")
    assert cache.get(key) is None
    cache.put(key, RESULT, {})
    assert cache.get(key) == RESULT
    assert Cache(tmp_path / "c").get(key) == RESULT


def test_another_text_or_option_is_another_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert len({cache.key("a", "b"), cache.key("a", "c"), cache.key("b", "b"), cache.key("ab"), cache.key("a")}) == 5


@pytest.mark.parametrize("change", ["edited", "removed", "appeared"])
def test_an_entry_counts_only_while_the_files_it_read_are_as_they_were(tmp_path: Path, change: str) -> None:
    there, not_there = tmp_path / "layers.py", tmp_path / "blocks.py"
    there.write_text("d = 1")
    cache = Cache(tmp_path / "c")
    key = cache.key("from layers import d")
    cache.put(key, RESULT, {str(path): digest_of_file(path) for path in (there, not_there)})
    assert cache.get(key) == RESULT
    match change:
        case "edited":
            there.write_text("d = 2")
        case "removed":
            there.unlink()
        case _:
            not_there.write_text("")
    assert Cache(tmp_path / "c").get(key) is None


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"key": "other", "files": {}, "result": {}}', b"[" * 100_000]
)
def test_a_damaged_entry_is_no_entry(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    key = cache.key("x")
    cache.put(key, RESULT, {})
    _entry(tmp_path).write_bytes(damage)
    assert cache.get(key) is None
    cache.put(key, RESULT, {})
    assert cache.get(key) == RESULT


def test_the_folder_keeps_out_of_git_and_of_backups(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    cache = Cache(folder)
    cache.put(cache.key("x"), RESULT, {})
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_writing_leaves_nothing_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    cache.put(cache.key("first"), RESULT, {})

    def fail(source: str, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    cache.put(cache.key("second"), RESULT, {})
    assert cache.get(cache.key("second")) is None
    assert not list(tmp_path.glob("**/.new-*"))


def test_a_folder_that_cannot_be_made_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "c")
    cache.put(cache.key("x"), RESULT, {})
    assert cache.get(cache.key("x")) is None


def test_an_entry_is_plain_data(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    key = cache.key("x")
    cache.put(key, RESULT, {})
    assert json.loads(_entry(tmp_path).read_text()) == {"key": key, "files": {}, "result": RESULT}
