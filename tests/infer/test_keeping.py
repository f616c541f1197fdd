"""Modules that nobody describes, and that are called after what they do."""

from __future__ import annotations

from tests.infer.revealed import check

_PROGRAM = """
    import torch.nn as nn
    from .layers import build, make_norm

    class Block(nn.Module):
        def __init__(self, d_model, norm, config):
            super().__init__()
            self.proj = nn.Linear(d_model, d_model)
            self.norm1 = make_norm(d_model)
            self.pre_ffn_norm = norm
            self.activation = build(config)
            self.mixer = build(config)
            self.dropouts = build(config)

        def forward(self, x, gate):
            b, t, d = x.shape
            normed = self.norm1(x)  #: (b, t, d_model)
            projected = self.proj(self.pre_ffn_norm(normed))  #: (b, t, d_model)
            bent = self.activation(projected)  #: (b, t, ?)
            mixed = self.mixer(bent)  #: Unknown
            both = self.norm1(x, gate)  #: Unknown
            listed = self.dropouts[0](x)  #: Unknown
            return mixed, both, listed
"""


def test_a_norm_keeps_the_shape_and_an_activation_the_axes() -> None:
    check(_PROGRAM, "Block")
