"""The pytest plugin, in sessions of its own."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.metadata import entry_points
from pathlib import Path

MODEL = """\
import torch


def attend(q, k, v, dim):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=dim)
    return weights @ v


def add(x, y):
    # x: (B, d), y: (B, k)
    return x.sum(-1) + y.sum(-1)
"""
TESTS = """\
import pytest
import torch
from model import attend


@pytest.mark.parametrize("dim", [-1, 1])
def test_weights(dim):
    x, y = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    assert attend(x, y, y, dim).shape == (2, 3, 4)


@pytest.mark.shapedoc(contract="q: B T d, k: B S d, v: B S d, dim: -1 -> context: B T d")
def test_contract(attention_contract):
    attention_contract(attend)


@pytest.mark.shapedoc(contract="q: B T d, k: B S d, v: B S d, dim: 1 -> context: B T d")
def test_broken_contract(attention_contract):
    attention_contract(attend)


def test_error():
    torch.tanh(torch.randn(2, 3) @ torch.randn(4, 5))
"""


def session(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "model.py").write_text(MODEL)
    (folder / "test_model.py").write_text(TESTS)
    # Installed, the plugin is there by its entry point; in a checkout on the path it is asked for.
    installed = any(entry.name == "shapedoc" for entry in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "shapedoc.integrations.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_it_fails_a_test_whose_code_is_silently_wrong(tmp_path: Path) -> None:
    done = session(tmp_path, "--shapedoc", "--junit-xml=report.xml", "-k", "weights or error")
    failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert failed == ["FAILED test_model.py::test_weights[1]", "FAILED test_model.py::test_error"]
    assert "error[SD401] softmax-over-wrong-axis" in done.stdout
    assert "= shapedoc =" in done.stdout
    assert "model.py:5:" in done.stdout
    assert "[SD101]" in done.stdout, "an exception is explained"
    properties = ElementTree.parse(tmp_path / "report.xml").getroot().iter("property")
    assert any(p.get("name") == "shapedoc" and "SD401" in str(p.get("value")) for p in properties)


def test_a_test_that_expects_an_error_passes(tmp_path: Path) -> None:
    (tmp_path / "test_refused.py").write_text(
        "import pytest\nimport torch\nfrom model import attend\n\n\ndef test_refused():\n"
        "    with pytest.raises(RuntimeError):\n"
        "        attend(torch.randn(2, 3, 4), torch.randn(2, 5, 6), torch.randn(2, 5, 6), -1)\n"
    )
    done = session(tmp_path, "--shapedoc", "-k", "refused")
    assert "1 passed" in done.stdout


def test_without_its_options_it_watches_nothing(tmp_path: Path) -> None:
    done = session(tmp_path, "-k", "weights")
    assert "2 passed" in done.stdout
    assert "SD401" not in done.stdout


def test_the_fixture_tests_what_the_marker_says(tmp_path: Path) -> None:
    done = session(tmp_path, "-k", "contract", "--strict-markers")
    assert "1 failed, 1 passed" in done.stdout
    assert "FAILED test_model.py::test_broken_contract" in done.stdout


def test_a_whole_package_can_be_checked(tmp_path: Path) -> None:
    (tmp_path / "test_add.py").write_text(
        "import torch\nfrom model import add\n\n\ndef test_add():\n    add(torch.randn(3, 4), torch.randn(1, 4))\n"
    )
    done = session(tmp_path, "--shapedoc-packages=model", "-k", "add")
    assert "1 passed, 4 deselected, 1 warning" in done.stdout or "ShapeWarning" in done.stdout
    assert "they do not agree on `B`" in done.stdout


def test_it_loads_nothing_until_it_is_used() -> None:
    program = (
        "import sys; import shapedoc.integrations.pytest_plugin; "
        "print(sorted(m for m in ('torch', 'libcst', 'jaxtyping', 'beartype', 'numpy') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_summary_says_a_place_once(tmp_path: Path) -> None:
    done = session(tmp_path, "--shapedoc", "-k", "weights or broken")
    summary = done.stdout.partition("= shapedoc =")[2].partition("short test summary")[0]
    assert summary.count("model.py:5:") == 1, done.stdout
