"""What is installed: a real wheel and a real editable install, each by itself."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import shapedoc

ROOT = Path(__file__).resolve().parents[2]

_ASK = """
import site, sys
site.addsitedir(sys.argv[1])
import shapedoc
print(shapedoc.__file__)
print(shapedoc.prompt_names())
print(shapedoc.prompt_text("attention-shapes"), end="")
"""


def _build(kind: str, folder: Path) -> Path:
    code = f"import sys, hatchling.build; print(hatchling.build.build_{kind}(sys.argv[1]))"
    built = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return folder / built.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("wheel", tmp_path_factory.mktemp("wheel"))


def _install(wheel: Path, folder: Path) -> list[str]:
    """Install without pip, as a wheel without scripts to run is: unpacked. Ask from there, seeing nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    asked = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _ASK, str(folder)],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return asked.stdout.splitlines(keepends=True)


def test_a_wheel_carries_the_prompts(wheel: Path, tmp_path: Path) -> None:
    place, names, *text = _install(wheel, tmp_path)
    assert Path(place.strip()) == tmp_path / "shapedoc" / "__init__.py"
    assert names == "('attention-shapes',)\n"
    assert "".join(text) == (ROOT / "prompts" / "attention-shapes.md").read_text(encoding="utf-8")


def test_an_editable_install_reads_the_prompts_of_the_checkout(tmp_path: Path) -> None:
    place, names, *text = _install(_build("editable", tmp_path / "wheel"), tmp_path / "site")
    assert Path(place.strip()) == ROOT / "shapedoc" / "__init__.py"
    assert names == "('attention-shapes',)\n"
    assert "".join(text) == (ROOT / "prompts" / "attention-shapes.md").read_text(encoding="utf-8")


def test_a_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"shapedoc", f"shapedoc-{shapedoc.__version__}.dist-info"}
    assert {"shapedoc/py.typed", "shapedoc/report/schema.json", "shapedoc/prompts/attention-shapes.md"} <= set(names)
    assert not [name for name in names if "fixtures" in name or "__pycache__" in name]


def test_no_torch_among_what_is_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [requirement.split(">")[0] for requirement in project["dependencies"]] == [
        "beartype",
        "click",
        "jaxtyping",
        "libcst",
        "pathspec",
    ]
    assert "torch==2.13.0" in project["optional-dependencies"]["test"]
