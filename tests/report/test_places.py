"""Paths as other programs read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedoc.report.places import is_relative, portable, project_folder, uri


@pytest.mark.parametrize(
    ("path", "told", "reference"),
    [
        ("model.py", "model.py", "model.py"),
        ("./src//model.py", "src/model.py", "src/model.py"),
        ("src/../model.py", "model.py", "model.py"),
        ("/home/me/project/src/model.py", "src/model.py", "src/model.py"),
        ("../model.py", "/home/me/model.py", "file:///home/me/model.py"),
        ("/home/me/projects/model.py", "/home/me/projects/model.py", "file:///home/me/projects/model.py"),
        ("my models/a b.py", "my models/a b.py", "my%20models/a%20b.py"),
        ("modèles/注意.py", "modèles/注意.py", "mod%C3%A8les/%E6%B3%A8%E6%84%8F.py"),
        ("a#1?b=100%.py", "a#1?b=100%.py", "a%231%3Fb%3D100%25.py"),
        ("a:b.py", "a:b.py", "a%3Ab.py"),
        ("src\\heads\\model.py", "src/heads/model.py", "src/heads/model.py"),
        ("C:\\my code\\model.py", "C:/my code/model.py", "file:///C:/my%20code/model.py"),
        ("\\\\server\\share\\model.py", "//server/share/model.py", "file://server/share/model.py"),
        ("latin\udce9.py", "latin\udce9.py", "latin%E9.py"),
    ],
)
def test_a_path_and_its_reference(monkeypatch: pytest.MonkeyPatch, path: str, told: str, reference: str) -> None:
    monkeypatch.setattr("os.getcwd", lambda: "/home/me/project")
    assert portable(path) == told
    assert uri(told) == reference
    assert is_relative(told) == (not reference.startswith("file:"))


def test_a_path_is_told_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert portable("model.py", str(tmp_path.parent)) == f"{tmp_path.name}/model.py"
    assert portable("model.py", "C:\\elsewhere") == (tmp_path / "model.py").as_posix()
    assert portable("C:\\project\\src\\model.py", "C:\\project") == "src/model.py"
    assert portable("model.py", "/") == (tmp_path / "model.py").as_posix().lstrip("/")


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({}, "/builds/me/project/src"),
        ({"GITHUB_WORKSPACE": "/builds/me/project"}, "/builds/me/project"),
        ({"CI_PROJECT_DIR": "/builds/me/project/"}, "/builds/me/project"),
        ({"CI_PROJECT_DIR": "/builds/me/pro"}, "/builds/me/project/src"),
        ({"GITHUB_WORKSPACE": ""}, "/builds/me/project/src"),
    ],
)
def test_the_project_is_the_checkout_around_the_current_folder(environment: dict[str, str], folder: str) -> None:
    assert project_folder(environment, "/builds/me/project/src") == folder


def test_the_checkout_on_windows() -> None:
    assert project_folder({"GITHUB_WORKSPACE": "D:\\a\\project"}, "D:\\a\\project\\src") == "D:/a/project"
