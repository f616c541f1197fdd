"""Rotary embeddings of modules that are not read: what they turn keeps its shape."""

from __future__ import annotations

from tests.infer.revealed import check


def test_what_is_turned_keeps_its_shape() -> None:
    check(
        """
        import torch
        from layers.rotary import apply_rotary_emb, rotate_queries

        def forward(x, angles, n_heads, d_head):
            B, T, d = x.shape
            q = x.view(B, T, n_heads, d_head)
            k = torch.zeros(B, 7, n_heads, d_head)
            q, k = apply_rotary_emb(q, k, angles)
            a = q.transpose(1, 2)  #: (B, n_heads, T, d_head)
            b = k.transpose(1, 2)  #: (B, n_heads, 7, d_head)
            q = rotate_queries(angles, q)
            c = q.transpose(1, 2)  #: (B, n_heads, T, d_head)
            return a, b, c
        """,
        "forward",
    )


def test_a_module_turns_what_it_is_named_after() -> None:
    check(
        """
        import torch.nn as nn
        from positions import RoPE

        class Attention(nn.Module):
            def __init__(self, d, n_heads):
                super().__init__()
                self.rope = RoPE(d // n_heads)
                self.heads = n_heads

            def forward(self, x):
                B, T, d = x.shape
                q = x.view(B, self.heads, T, d // self.heads)
                q_rot = self.rope(q)
                return q_rot.transpose(1, 2)  #: (B, T, n_heads, d//n_heads)
        """,
        "Attention",
    )


def test_angles_are_not_what_they_are_made_for() -> None:
    check(
        """
        from positions import rotary_emb

        def forward(v):
            B, T, d = v.shape
            cos, sin = rotary_emb(v, T)
            return cos.tanh()  #: ?
        """,
        "forward",
    )


def test_another_function_may_do_anything() -> None:
    check(
        """
        from layers import compress

        def forward(q):
            B, T, d = q.shape
            q = compress(q)
            return q.tanh()  #: ?
        """,
        "forward",
    )
