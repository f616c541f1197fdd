"""``[tool.shapedoc]``: what it may say, and what is answered when it says something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.config import Config, ConfigError, find_config, load_config, read_config


def _write(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        """
[tool.shapedoc]
select = ["SD1", "SD401"]
ignore = ["SD109"]
exclude = ["old/"]
output-format = "concise"
jobs = 2
notes = true
cache = false

[tool.shapedoc.per-file-ignores]
"tests/*" = ["SD4"]

[tool.shapedoc.severity]
SD308 = "warning"
""",
    )
    assert read_config(path) == Config(
        root=tmp_path,
        file=path,
        select=("SD1", "SD401"),
        ignore=("SD109",),
        exclude=("old/",),
        per_file_ignores=(("tests/*", ("SD4",)),),
        severity=(("SD308", "warning"),),
        output_format="concise",
        jobs=2,
        notes=True,
        cache=False,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.shapedoc]\nselct = []", "[tool.shapedoc] has no key `selct`; did you mean `select`?"),
        ("[tool.shapedoc]\nper_file_ignores = {}", "has no key `per_file_ignores`; did you mean `per-file-ignores`?"),
        ("[tool.shapedoc]\nwizardry = 1", "[tool.shapedoc] has no key `wizardry`"),
        ('[tool.shapedoc]\nselect = "SD1"', "`select` must be a list of strings, such as ['SD1', 'SD401']"),
        ("[tool.shapedoc]\nselect = [1]", "`select` must be a list of strings, such as ['SD1', 'SD401']"),
        ("[tool.shapedoc]\njobs = -1", "`jobs` must be a whole number: 0 for one process per processor, or how many"),
        ("[tool.shapedoc]\njobs = true", "`jobs` must be a whole number: 0 for one process per processor, or how many"),
        ("[tool.shapedoc]\nnotes = 1", "`notes` must be true or false"),
        ("[tool.shapedoc]\noutput-format = 3", "`output-format` must be a string"),
        ("[tool.shapedoc]\nper-file-ignores = 3", "`per-file-ignores` must be a table of patterns, such as"),
        (
            '[tool.shapedoc.severity]\nSD1 = "fatal"',
            '`severity` must be a table of "error", "warning" or "note" by rule',
        ),
        ("[tool]\nshapedoc = 3", "`tool.shapedoc` must be a table"),
        ("[tool.ruff]", "there is no [tool.shapedoc] in this file"),
        ("[tool.shapedoc", "is not valid TOML: Expected ']' at the end of a table declaration"),
    ],
)
def test_what_means_nothing_is_said_by_name(tmp_path: Path, text: str, message: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_file_that_is_not_utf8_is_said(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"# \xff\n[tool.shapedoc]\n")
    with pytest.raises(ConfigError, match="is not UTF-8, as TOML must be"):
        read_config(path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        read_config(tmp_path / "none.toml")


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    outer = _write(tmp_path, "[tool.shapedoc]\njobs = 1")
    inner = tmp_path / "package" / "deep"
    inner.mkdir(parents=True)
    _write(inner.parent, "[tool.other]\nx = 1")
    assert find_config(inner) == outer
    nearer = _write(inner, "[tool.shapedoc]\njobs = 3")
    assert find_config(inner) == nearer


def test_the_common_folder_of_all_paths_decides(tmp_path: Path) -> None:
    _write(tmp_path, "[tool.shapedoc]\njobs = 1")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, "[tool.shapedoc]\njobs = 9")
    assert load_config(None, [tmp_path / "a" / "x.py", tmp_path / "b"]).jobs == 1
    assert load_config(None, [tmp_path / "a" / "x.py"]).jobs == 9
    assert load_config(tmp_path / "b" / "pyproject.toml", [tmp_path]).jobs == 9
