"""The zip for Gradescope: laid out as Gradescope wants it, and its script does what it says."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from shapedoc.grade.assignment import SHIPPED
from shapedoc.grade.exports.autograder import bundle

_ASSIGNMENT = SHIPPED / "masked-softmax"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle(_ASSIGNMENT, tmp_path_factory.mktemp("bundle") / "autograder.zip", 31337)


def unpacked(archive: Path, root: Path) -> Path:
    """As Gradescope lays it out; what `zipfile` does not restore, the modes, included."""
    with zipfile.ZipFile(archive) as whole:
        for info in whole.infolist():
            path = Path(whole.extract(info, root / "source"))
            path.chmod(info.external_attr >> 16 & 0o777)
    return root


def test_the_scripts_stand_at_the_root_and_may_be_run(archive: Path) -> None:
    with zipfile.ZipFile(archive) as whole:
        modes = {info.filename: info.external_attr >> 16 for info in whole.infolist()}
        assert modes["run_autograder"] & 0o111
        assert modes["setup.sh"] & 0o111
        assert {"assignment/assignment.toml", "assignment/reference.py", "shapedoc/__main__.py"} <= set(modes)
        assert "shapedoc/grade/messages/zh.toml" in modes
        assert not any(name.endswith(".pyc") or "__pycache__" in name for name in modes)
        for name in ("run_autograder", "setup.sh"):
            subprocess.run(["bash", "-n"], input=whole.read(name), check=True)


def test_the_same_assignment_gives_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    assert bundle(_ASSIGNMENT, tmp_path / "again.zip", 31337).read_bytes() == archive.read_bytes()


def test_what_it_installs_is_what_the_package_needs(archive: Path) -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(archive) as whole:
        installed = whole.read("requirements.txt").decode().split()
    assert set(project["dependencies"]) <= set(installed)


def _seed(text: str) -> str:
    return str(int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big"))


@pytest.mark.parametrize("status", [0, 1, 2, 137])
def test_only_a_grader_that_did_its_work_leaves_results(archive: Path, tmp_path: Path, status: int) -> None:
    root = unpacked(archive, tmp_path / "autograder")
    (root / "submission").mkdir()
    (root / "submission" / "hw.py").write_text("x = 1\n")
    (root / "submission_metadata.json").write_text('{"id": 4242}')
    (root / "results").mkdir()
    (root / "results" / "results.json").write_text("forged by an earlier submission")
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "python3").write_text(
        "#!/usr/bin/env bash\n"
        f'if [ "$1" = -c ]; then exec {sys.executable} "$@"; fi\n'
        f'printf "%s\\n" "$@" > {tmp_path}/called\n'
        f'ls "$5" > {tmp_path}/seen\n'
        f"[ {status} -gt 2 ] || echo done > {root}/results/results.json\n"
        f"exit {status}\n"
    )
    (fake / "python3").chmod(0o755)
    environment = {**os.environ, "AUTOGRADER_ROOT": str(root), "PATH": f"{fake}:{os.environ['PATH']}"}
    done = subprocess.run([root / "source" / "run_autograder"], env=environment, capture_output=True, check=False)
    called = (tmp_path / "called").read_text().split("\n")
    assert called[:4] == ["-m", "shapedoc", "grade", f"{root}/source/assignment"]
    assert called[5:9] == ["--seed", _seed("31337/4242"), "--export", f"gradescope:{root}/results/results.json"]
    assert (tmp_path / "seen").read_text() == "submission\n"
    assert not Path(called[4]).exists()
    assert (done.returncode, (root / "results" / "results.json").exists()) == ((0, True) if status < 2 else (1, False))


@pytest.mark.full
def test_the_bundle_marks_a_submission(archive: Path, tmp_path: Path) -> None:
    """With the Python that runs the tests, in the layout of Gradescope."""
    root = unpacked(archive, tmp_path / "autograder")
    (root / "submission").mkdir()
    (root / "submission" / "hw.py").write_text((_ASSIGNMENT / "reference.py").read_text(encoding="utf-8"))
    (root / "submission_metadata.json").write_text('{"id": 7}')
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "AUTOGRADER_ROOT": str(root), "PATH": path}
    script = root / "source" / "run_autograder"
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    assert results["score"] == sum(test["max_score"] for test in results["tests"]) > 0
    assert results["extra_data"]["status"] == "passed"
