"""Layers that a setting chooses, parameters that stand for "not given", parts of other packages."""

from __future__ import annotations

from tests.infer.revealed import check, run


def problems(program: str) -> list[tuple[int, str]]:
    return sorted({(e.span.line, p.kind) for e in run(program).events for p in e.problems})


def test_a_layer_or_another_gives_what_both_give() -> None:
    check(
        """
        import torch.nn as nn

        class DropPath(nn.Module):
            def __init__(self, p):
                super().__init__()
                self.p = p

            def forward(self, x):
                return x if not self.training else x * self.p

        class Block(nn.Module):
            def __init__(self, d, p, gated):
                super().__init__()
                self.drop = DropPath(p) if p > 0 else nn.Identity()
                self.mix = nn.GRU(d, d, batch_first=True) if gated else nn.RNN(d, d, batch_first=True)

            def forward(self, x):
                B, T, D = x.shape
                y = self.drop(x)  #: (B, T, d)
                out, state = self.mix(y)
                return out.transpose(0, 1)  #: (T, B, d)
        """,
        "Block",
    )


def test_the_alternative_that_does_not_fit_is_not_meant() -> None:
    program = """
        import torch.nn as nn

        class Embed(nn.Module):
            def __init__(self, d, image):
                super().__init__()
                self.image = image
                self.proj = nn.Conv2d(3, d, 16, 16) if image else nn.Linear(80, d)

            def forward(self, x):
                if self.image:
                    B, C, H, W = x.shape
                    return self.proj(x).flatten(2)
                B, T = x.shape[:2]
                return self.proj(x.view(B, T, 80)).transpose(1, 2)
        """
    assert problems(program) == []


def test_a_call_that_fits_no_alternative_is_reported() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Head(nn.Module):
            def __init__(self, deep):
                super().__init__()
                self.out = nn.Linear(8, 4) if deep else nn.LayerNorm(8)

            def forward(self, x):
                return self.out(torch.zeros(2, 3))
        """
    assert problems(program) != []


def test_a_size_that_was_not_given_is_the_one_that_replaces_it() -> None:
    check(
        """
        import torch.nn as nn

        class Mlp(nn.Module):
            def __init__(self, in_features, hidden_features=None, out_features=None):
                super().__init__()
                out_features = out_features or in_features
                hidden_features = hidden_features if hidden_features is not None else in_features
                self.fc1 = nn.Linear(in_features, hidden_features)
                self.fc2 = nn.Linear(hidden_features, out_features)

            def forward(self, x):
                return self.fc2(self.fc1(x))  #: ?
        """,
        "Mlp",
    )


def test_a_mask_that_is_there_sometimes_is_a_tensor_where_it_is_there() -> None:
    check(
        """
        import torch

        def attend(scores, causal):
            B, T, S = scores.shape
            mask = None
            if causal:
                mask = torch.ones(T, S).triu(1).bool()
            if mask is not None:
                mask = mask.unsqueeze(0)  #: (1, T, S)
                scores = scores.masked_fill(mask, -1e9)
            return scores.softmax(-1)  #: (B, T, S)
        """,
        "attend",
    )


def test_known_parts_of_timm_keep_shapes() -> None:
    check(
        """
        import torch
        import torch.nn as nn
        from timm.models.layers import DropPath, to_2tuple, trunc_normal_

        class Embed(nn.Module):
            def __init__(self, d, patch_size):
                super().__init__()
                patch_size = to_2tuple(patch_size)
                self.proj = nn.Conv2d(3, d, patch_size, patch_size)
                self.pos = nn.Parameter(torch.zeros(1, 1, d))
                trunc_normal_(self.pos, std=0.02)
                self.drop = DropPath(0.1)

            def forward(self, x):
                B, C, H, W = x.shape
                x = self.proj(x).flatten(2).transpose(1, 2) + self.pos
                return self.drop(x)  #: (B, ?*?, d)
        """,
        "Embed",
    )
