"""Maps of files that are not read, under torch's names."""

from __future__ import annotations

from tests.infer.revealed import check
from tests.rules.expectations import found


def test_a_map_of_another_file_is_built_and_called_as_torchs_own() -> None:
    check(
        """
        import torch
        from .layers import Embedding, Linear

        class Scorer(torch.nn.Module):
            def __init__(self, words, d_model, d_head):
                super().__init__()
                self.embed = Embedding(words, d_model)
                self.query = Linear(d_model, d_head, bias=False)

            def forward(self, tokens):
                B, T = tokens.shape
                x = self.embed(tokens)  #: (B, T, d_model)
                return self.query(x)  #: (B, T, d_head)
        """,
        "Scorer",
    )


PROGRAM = """
import torch
from .layers import Linear


class Scorer(torch.nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query = Linear(%s)
        self.out = torch.nn.Linear(d_head * 2, d_model)

    def forward(self, x):
        return self.out(self.query(x))
"""


def test_what_has_other_arguments_is_another_thing() -> None:
    assert [f.code for f in found(PROGRAM % "d_model, d_head", "SD106")] == ["SD106"]
    for arguments in ("d_head", "d_model, d_head, rank=4", "[d_model, d_head], 2"):
        assert found(PROGRAM % arguments, "SD106") == []
