"""The shapes that everybody who writes attention for the first time has to get right, inferred from code alone."""

from __future__ import annotations

from tests.infer.revealed import check


def test_additive_attention_for_one_decoder_step_in_numpy() -> None:
    check(
        """
        import numpy as np

        def softmax(x):
            e = np.exp(x - np.max(x))
            return e / e.sum()

        def additive_attention(decoder_state, encoder_states, W_a, U_a, v_a):
            projected_dec = W_a @ decoder_state  #: (d_attn,)
            projected_enc = encoder_states @ U_a.T  #: (T_enc, d_attn)
            combined = np.tanh(projected_enc + projected_dec)  #: (T_enc, d_attn)
            scores = combined @ v_a  #: (T_enc,)
            weights = softmax(scores)
            context = weights @ encoder_states  #: (d_h,)
            return context, weights

        rng = np.random.default_rng(0)
        T_enc, d_s, d_h, d_attn = 4, 3, 5, 6
        encoder_states = rng.normal(size=(T_enc, d_h))
        decoder_state = rng.normal(size=d_s)
        W_a = rng.normal(size=(d_attn, d_s))
        U_a = rng.normal(size=(d_attn, d_h))
        v_a = rng.normal(size=d_attn)
        context, weights = additive_attention(decoder_state, encoder_states, W_a, U_a, v_a)
        largest = weights.max()  #: ()
        shares = weights * 1.0  #: (T_enc,)
        """,
        "",
    )


def test_dot_and_general_scores_in_numpy() -> None:
    check(
        """
        import numpy as np

        T_enc, d_s, d_h = 4, 3, 5
        H = np.zeros((T_enc, d_h))
        s, W = np.zeros(d_s), np.zeros((d_s, d_h))
        projected = W.T @ s  #: (d_h,)
        general = H @ projected  #: (T_enc,)
        dot = H @ np.ones(d_h)  #: (T_enc,)
        """,
        "",
    )


def test_batched_scorers_in_torch() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Additive(nn.Module):
            def __init__(self, d_s, d_h, d_attn):
                super().__init__()
                self.W_a = nn.Linear(d_s, d_attn, bias=False)
                self.U_a = nn.Linear(d_h, d_attn, bias=False)
                self.v_a = nn.Linear(d_attn, 1, bias=False)

            def forward(self, state, memory):
                batch_size, T_enc, _ = memory.shape
                query = self.W_a(state).unsqueeze(1)  #: (batch_size, 1, d_attn)
                keys = self.U_a(memory)  #: (batch_size, T_enc, d_attn)
                combined = torch.tanh(query + keys)  #: (batch_size, T_enc, d_attn)
                scores = self.v_a(combined).squeeze(-1)  #: (batch_size, T_enc)
                weights = torch.softmax(scores, dim=-1)  #: (batch_size, T_enc)
                context = torch.bmm(weights.unsqueeze(1), memory)  #: (batch_size, 1, d_h)
                return context.squeeze(1), weights  #: (batch_size, d_h)

        batch_size, T_enc, d_s, d_h, d_attn = 2, 4, 3, 5, 6
        model = Additive(d_s, d_h, d_attn)
        context, weights = model(torch.zeros(batch_size, d_s), torch.zeros(batch_size, T_enc, d_h))
        """,
        "",
    )


def test_scaled_dot_product_with_a_causal_mask() -> None:
    check(
        """
        import math
        import torch

        def attention(query, key, value):
            batch_size, T, d_k = query.shape
            scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
            mask = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)  #: (T, T)
            weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)  #: (batch_size, T, T)
            return weights @ value

        batch_size, T, d_k, d_v = 2, 5, 8, 7
        query = key = torch.zeros(batch_size, T, d_k)
        out = attention(query, key, torch.zeros(batch_size, T, d_v))
        """,
        "",
    )


def test_the_library_module_on_the_sizes_of_the_chapter() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        mha = nn.MultiheadAttention(embed_dim=128, num_heads=8, batch_first=True)
        query = torch.randn(2, 5, 128)
        memory = torch.randn(2, 10, 128)
        out = mha(query, memory, memory)  #: [(2, 5, 128), (2, 5, 10)]
        """,
        "",
    )


def test_dot_general_and_concat_batched_in_torch() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        def dot(s, H):
            scores = torch.bmm(H, s.unsqueeze(2)).squeeze(2)  #: (batch_size, T_enc)
            weights = torch.softmax(scores, dim=1)  #: (batch_size, T_enc)
            context = torch.bmm(weights.unsqueeze(1), H).squeeze(1)  #: (batch_size, d_h)
            return context, weights

        class General(nn.Module):
            def __init__(self, d_s, d_h):
                super().__init__()
                self.W = nn.Linear(d_h, d_s, bias=False)
            def forward(self, s, H):
                keys = self.W(H)  #: (batch_size, T_enc, d_s)
                scores = torch.bmm(keys, s.unsqueeze(2)).squeeze(2)  #: (batch_size, T_enc)
                weights = torch.softmax(scores, dim=1)  #: (batch_size, T_enc)
                context = torch.bmm(weights.unsqueeze(1), H).squeeze(1)  #: (batch_size, d_h)
                return context, weights

        class Concat(nn.Module):
            def __init__(self, d_s, d_h, d_attn):
                super().__init__()
                self.W = nn.Linear(d_s + d_h, d_attn)
                self.v = nn.Linear(d_attn, 1, bias=False)
            def forward(self, s, H):
                rows = s.unsqueeze(1).expand(-1, H.size(1), -1)  #: (batch_size, T_enc, d_s)
                joined = torch.cat((rows, H), dim=-1)  #: (batch_size, T_enc, d_s + d_h)
                energy = torch.tanh(self.W(joined))  #: (batch_size, T_enc, d_attn)
                scores = self.v(energy).squeeze(-1)  #: (batch_size, T_enc)
                weights = torch.softmax(scores, dim=1)  #: (batch_size, T_enc)
                context = torch.bmm(weights.unsqueeze(1), H).squeeze(1)  #: (batch_size, d_h)
                return context, weights

        batch_size, T_enc, d_s, d_h, d_attn = 2, 4, 3, 5, 6
        H = torch.zeros(batch_size, T_enc, d_h)
        s = torch.zeros(batch_size, d_s)
        a = dot(torch.zeros(batch_size, d_h), H)
        b = General(d_s, d_h)(s, H)
        c = Concat(d_s, d_h, d_attn)(s, H)
        """,
        "",
    )
