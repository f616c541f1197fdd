"""What is not known, and is used as only a tensor can be."""

from __future__ import annotations

from tests.infer.revealed import check
from tests.rules.expectations import found


def test_what_is_learnt_of_an_unknown_result_holds_afterwards() -> None:
    check(
        """
        import torch
        from elsewhere import attend

        def merged(q, k, v):
            out, weights = attend(q, k, v)
            B, H, T, d = out.size()
            rows = out.transpose(1, 2)  #: (B, T, H, d)
            return rows.reshape(B, T, H * d)  #: (B, T, H*d)
        """,
        "merged",
    )


PROGRAM = """
import torch
from elsewhere import attend


def merged(q, k, v):
    out, weights = attend(q, k, v)
    B, H, T, d = out.size()
    return %s.reshape(B, T, H * d)
"""


def test_heads_of_an_unknown_result_that_are_merged_without_a_transpose() -> None:
    assert [f.code for f in found(PROGRAM % "out.contiguous()", "SD601")] == ["SD601"]
    assert found(PROGRAM % "out.transpose(1, 2)", "SD601") == []


def test_what_is_asked_of_something_that_is_no_tensor_makes_it_none() -> None:
    check(
        """
        import torch
        from elsewhere import load

        def sizes(path):
            image = load(path)
            width, height = image.dims
            return torch.zeros(3, height)  #: (3, ?)
        """,
        "sizes",
    )
