"""`%%shapedoc` in a real kernel."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """A Python kernel with this checkout on its path."""
    manager = KernelManager()
    manager.start_kernel(env={**os.environ, "PYTHONPATH": str(ROOT), "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client: Any, cell: str) -> list[dict[str, Any]]:
    """The messages that a cell gives."""
    shown: list[dict[str, Any]] = []
    client.execute_interactive(cell, timeout=180, output_hook=shown.append, allow_stdin=False)
    return shown


def tables(messages: list[dict[str, Any]]) -> list[str]:
    kinds = [m for m in messages if m["msg_type"] == "display_data"]
    return [m["content"]["data"]["text/html"] for m in kinds if "text/html" in m["content"]["data"]]


def test_a_cell_that_raises_is_explained(kernel: Any) -> None:
    run(kernel, "%load_ext shapedoc\nimport torch\nx, w = torch.randn(2, 3), torch.randn(4, 5)")
    messages = run(kernel, "%%shapedoc\ny = torch.tanh(\n    x.relu()\n    @ w\n)")
    assert any(m["msg_type"] == "error" and m["content"]["ename"] == "RuntimeError" for m in messages)
    (shown,) = tables(messages)
    assert "error[SD101]" in shown
    plain = re.sub(r"<[^>]+>", " ", shown)
    assert re.search(r"\bw\s+\(4, 5\)", plain)
    assert "x.relu()" in plain
    assert "@ w" in plain, "the whole expression is shown"
    raised = next(m["content"] for m in messages if m["msg_type"] == "error")
    assert not any("shapedoc/runtime" in line for line in raised["traceback"]), "no frames but the author's"


def test_a_cell_that_is_silently_wrong_is_told(kernel: Any) -> None:
    run(kernel, "%load_ext shapedoc\nimport torch\nq, k = torch.randn(2, 3, 4), torch.randn(2, 5, 4)")
    messages = run(kernel, "%%shapedoc\nweights = torch.softmax(q @ k.transpose(1, 2), dim=1)\ncontext = weights @ k")
    (shown,) = tables(messages)
    assert "softmax-over-wrong-axis" in shown


def test_a_right_cell_shows_nothing_and_keeps_its_variables(kernel: Any) -> None:
    run(kernel, "%load_ext shapedoc\nimport torch\n")
    assert tables(run(kernel, "%%shapedoc\nz = torch.randn(2, 3).relu()")) == []
    assert tables(run(kernel, "assert z.shape == (2, 3)")) == []
