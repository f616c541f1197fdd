"""Numbers that no tensor can have."""

from __future__ import annotations

import pytest

from tests.rules.expectations import found


@pytest.mark.parametrize("call", ["x.unsqueeze({})", "x.unsqueeze(-{})", "x.transpose({}, 0)", "x.sum(dim=-{})"])
def test_an_axis_that_no_tensor_has_takes_no_memory(call: str) -> None:
    text = f"import torch\n\n\ndef far(x):\n    return {call.format('10**9')}\n"
    assert found(text, "SD105", "SD111") == []
