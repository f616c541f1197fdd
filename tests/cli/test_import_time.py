"""What is loaded when: a start must cost what click costs."""

from __future__ import annotations

import subprocess
import sys

import pytest


def _loaded_after(code: str) -> set[str]:
    probe = f"import sys\n{code}\nprint('|', *sys.modules, sep='\\n')"
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(ran.stdout.rpartition("|\n")[2].split())


_VERSION = """
from shapedoc.cli import main
try:
    main(["--version"])
except SystemExit as end:
    assert end.code == 0, end.code
"""


@pytest.mark.parametrize("code", ["import shapedoc", "import shapedoc.cli", _VERSION])
def test_nothing_heavy_is_loaded_at_start(code: str) -> None:
    loaded = _loaded_after(code)
    assert not loaded & {"torch", "numpy", "libcst", "pathspec", "jaxtyping", "beartype", "tomllib", "hashlib"}


def test_the_version_loads_three_modules_of_ours() -> None:
    ours = {name for name in _loaded_after(_VERSION) if name.startswith("shapedoc")}
    assert ours == {"shapedoc", "shapedoc.cli", "shapedoc.version"}


def test_a_screen_of_right_code_never_loads_libcst() -> None:
    code = """
import io
from shapedoc.cli import main
sys.stdin = io.TextIOWrapper(io.BytesIO(b"import torch\\nx = torch.zeros(2, 3)\\n"))
try:
    main(["lint", "--no-cache", "-"])
except SystemExit as end:
    assert end.code == 0, end.code
"""
    loaded = _loaded_after(code)
    assert "shapedoc.infer" in loaded
    assert not loaded & {"torch", "numpy", "libcst"}
