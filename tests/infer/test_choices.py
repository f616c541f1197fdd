"""Layers that a setting chooses, parameters that stand for "not given", parts of other packages."""

from __future__ import annotations

import pytest

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


ALTERNATIVES = """
        import torch
        import torch.nn as nn

        class Plain(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.key = nn.Linear(d, d)

            def forward(self, x, mask=None, memory=None):
                seen = x if memory is None else torch.cat((memory, x), 0)
                scores = torch.einsum("ibd,jbd->ijb", x, self.key(seen))
                return x if mask is None else scores.masked_fill(mask[:, :, None], 0).sum(1)[:, :, None] * x

        class Biased(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.key = nn.Linear(d, d)

            def forward(self, x, table, bias, mask=None, memory=None):
                T, B, d = x.shape
                scores = torch.einsum("ibd,jbd->ijb", x + bias, self.key(x))
                return scores.sum(1)[:, :, None] * x

        class Stack(nn.Module):
            def __init__(self, kind, d, layers):
                super().__init__()
                self.layers = nn.ModuleList()
                if kind:
                    for _ in range(layers):
                        self.layers.append(Biased(d))
                else:
                    for _ in range(layers):
                        self.layers.append(Plain(d))
                self.bias = nn.Parameter(torch.zeros(layers, d))
                self.table = nn.Parameter(torch.zeros(layers, 9, d))

            def forward(self, x, mask):
                T, B, d = x.shape
                for i, layer in enumerate(self.layers):
                    x = layer(x, self.table[i], self.bias[i], mask=mask)
                return x
        """


def test_a_module_that_does_not_take_the_arguments_is_not_the_one_called() -> None:
    assert problems(ALTERNATIVES) == []


def test_a_module_that_one_branch_adds_is_there() -> None:
    check(
        """
        import torch.nn as nn

        class Tower(nn.Module):
            def __init__(self, d, k, deep):
                super().__init__()
                self.parts = nn.ModuleList()
                self.parts.append(nn.Linear(d, d))
                if deep:
                    self.parts.append(nn.Linear(d, k))

            def forward(self, x):
                B, T, D = x.shape
                x = self.parts[0](x)
                return self.parts[1](x)  #: (B, T, k)
        """,
        "Tower",
    )


def test_a_quotient_that_is_one_makes_both_sizes_one() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Grouped(nn.Module):
            def __init__(self, d, heads, pairs, width):
                super().__init__()
                self.heads, self.pairs, self.width = heads, pairs, width
                self.each = heads // pairs
                self.q, self.k = nn.Linear(d, heads * width), nn.Linear(d, pairs * width)

            def forward(self, x):
                B, T, _ = x.shape
                q = self.q(x).view(B, T, self.heads, self.width).transpose(1, 2)
                k = self.k(x).view(B, T, self.pairs, self.width).transpose(1, 2)
                if self.each > 1:
                    k = k.repeat_interleave(self.each, dim=1)
                return q @ k.transpose(2, 3)

        Grouped(64, {heads}, 4, 16)(torch.randn(2, 5, 64))
        """
    assert problems(program.format(heads=4)) == []
    assert problems(program.format(heads=8)) == []


RECURRENT = """
    import torch
    import torch.nn as nn

    class Recurrent(nn.Module):
        def __init__(self, d_in, d_hidden, kind="rnn"):
            super().__init__()
            layer = nn.RNN if kind == "rnn" else nn.LSTM if kind == "lstm" else nn.GRU
            self.layers = layer(d_in, d_hidden, batch_first=True)

        def forward(self, x, hidden):
            if {test}:
                output, (hidden, _) = self.layers(x, (hidden, torch.zeros_like(hidden)))
            else:
                output, hidden = self.layers(x, hidden)
            again, _ = self.layers(output)
            return again, hidden

    class Speaker(nn.Module):
        def __init__(self, options):
            super().__init__()
            self.decoder = Recurrent(**options)

        def forward(self, x):
            return self.decoder(x, torch.zeros(1, x.size(0), 6))
    """


@pytest.mark.parametrize("test", ["isinstance(self.layers, nn.LSTM)", "not isinstance(self.layers, (nn.GRU, nn.RNN))"])
def test_where_its_kind_is_asked_for_a_layer_is_of_that_kind(test: str) -> None:
    trace = run(RECURRENT.format(test=test))
    called = [(e.span.line, e.short.partition(".")[0]) for e in trace.events if e.short.endswith(".forward")]
    first = min(line for line, _ in called)
    assert {kind for line, kind in called if line == first} == {"LSTM"}
    assert {kind for line, kind in called if line == first + 2} == {"RNN", "GRU"}
    assert {kind for line, kind in called if line == first + 3} == {"RNN", "LSTM", "GRU"}
