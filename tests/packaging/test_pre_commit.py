"""The pre-commit hook, by a real ``pre-commit try-repo`` as the hook of a small git repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

_SHIPPED = ("shapedoc", "prompts", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")

# A second hook in the same environment, to see what that environment holds.
_ENVIRONMENT_HOOK = """
- id: environment
  name: environment
  entry: python -c "from importlib.util import find_spec as f; print('torch', f('torch'), 'libcst', bool(f('libcst')))"
  language: python
  pass_filenames: false
  always_run: true
  verbose: true
"""

_BAD = """\
import torch

batch_size, T_dec, T_enc, d = 2, 3, 5, 7
query = torch.randn(batch_size, T_dec, d)
memory = torch.randn(batch_size, T_enc, d)
scores = query @ memory
"""
_GOOD = _BAD.replace("@ memory", "@ memory.transpose(-2, -1)")


class Repository:
    """A git repository whose pre-commit hook is ``pre-commit try-repo`` on this project."""

    def __init__(self, folder: Path, hooks: Path) -> None:
        self._folder = folder
        # What git sets around a hook of an outer repository must not reach this one.
        outer = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_DIR", "GIT_INDEX"))}
        names = {f"GIT_{who}_{what}": "x@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self._environment = {**outer, **names, "PRE_COMMIT_HOME": str(folder.parent / "pre-commit"), "NO_COLOR": "1"}
        folder.mkdir()
        self.git("init", "-q")
        hook = folder / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pre_commit try-repo "{hooks}" --color never\n')
        hook.chmod(0o755)

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *arguments],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def commit(self, text: str, name: str = "attention.py") -> subprocess.CompletedProcess[str]:
        (self._folder / name).write_text(text, encoding="utf-8")
        self.git("add", name)
        return self.git("commit", "-m", "attention")

    def commits(self) -> int:
        return len(self.git("log", "--format=%h", "--all").stdout.splitlines())


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project as a repository of hooks, holding what is shipped as it stands now."""
    folder = tmp_path_factory.mktemp("shapedoc")
    for name in _SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    with (folder / ".pre-commit-hooks.yaml").open("a", encoding="utf-8") as stream:
        stream.write(_ENVIRONMENT_HOOK)
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def test_a_bad_commit_is_stopped_and_a_good_one_let_through_without_torch(hooks: Path, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project", hooks)

    stopped = repository.commit(_BAD)
    assert stopped.returncode == 1, stopped.stdout
    assert "error[SD101] mismatched-product" in stopped.stdout
    assert "torch None libcst True" in stopped.stdout
    assert repository.commits() == 0

    passed = repository.commit(_GOOD)
    assert passed.returncode == 0, passed.stdout
    assert repository.commits() == 1

    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": _BAD,
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    stopped = repository.commit(notebook, "attention.ipynb")
    assert stopped.returncode == 1, stopped.stdout
    assert "--> attention.ipynb:cell 1:6:10" in stopped.stdout
    assert repository.commits() == 1
