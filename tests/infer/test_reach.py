"""What the interpreter follows: constructors, attributes, helpers, loops, branches, driver code."""

from __future__ import annotations

import pytest

from tests.infer.revealed import check, run

ATTENTION = """
    import math
    import torch
    import torch.nn as nn

    class Attention(nn.Module):
        def __init__(self, d_model, n_heads):
            super().__init__()
            self.n_heads = n_heads
            self.d_head = d_model // n_heads
            self.qkv = nn.Linear(d_model, 3 * d_model)
            self.out = nn.Linear(d_model, d_model)

        def split(self, x):
            return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)

        def forward(self, x):
            B, T, C = x.shape
            q, k, v = (self.split(t) for t in self.qkv(x).chunk(3, dim=-1))
            scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)  #: (B, n_heads, T, T)
            mixed = scores.softmax(-1) @ v  #: (B, n_heads, T, d_head)
            mixed = mixed.transpose(1, 2).reshape(B, T, C)  #: (B, T, d_model)
            return self.out(mixed)  #: (B, T, d_model)
"""


def test_heads_are_followed_through_a_helper_method() -> None:
    check(ATTENTION, "Attention")


def test_a_driver_gives_its_numbers() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Score(nn.Module):
            def __init__(self, d_s, d_attn=8):
                super().__init__()
                self.proj = nn.Linear(d_s, d_attn)

            def forward(self, state):
                return self.proj(state)

        score = Score(64)
        x = torch.randn(2, 5, 64)  #: (2, 5, 64)
        y = score(x)
        z = y[:, -1]  #: (2, d_attn)
        """,
        "",
    )


def test_a_product_is_not_made_of_a_scrambled_one() -> None:
    check(
        """
        import torch

        def mix(query, key, value):
            B, H, T, d = query.shape
            scores = torch.matmul(query, key.transpose(-2, -1))
            out = torch.matmul(scores, value)
            return out.permute(0, 2, 1, 3).contiguous().view(B, T, H * d)  #: (B, T, H*d)
        """,
        "mix",
    )


def test_later_use_tells_the_rank_of_a_parameter() -> None:
    program = """
        import torch

        def context(weights, memory):
            rows = weights.unsqueeze(1)  #: (?, 1, ?)
            return torch.bmm(rows, memory)  #: (?, 1, ?)
        """
    check(program, "context")


def test_unpacking_names_the_axes() -> None:
    check(
        """
        import torch

        def flat(x):
            B, T, d = x.shape
            return x.reshape(B * T, d)  #: (B*T, d)
        """,
        "flat",
    )


def test_a_loop_fills_a_list_as_long_as_its_trips() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Decoder(nn.Module):
            def __init__(self, d_in, d_s):
                super().__init__()
                self.cell = nn.GRUCell(d_in, d_s)

            def forward(self, x, state):
                T_dec, B, d = x.shape
                states = []
                for t in range(T_dec):
                    state = self.cell(x[t], state)  #: (B, d_s)
                    states.append(state)
                return torch.stack(states, dim=1)  #: (B, T_dec, d_s)
        """,
        "Decoder",
    )


def test_branches_that_disagree_leave_a_size_open() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Either(nn.Module):
            def __init__(self, d, e, flag):
                super().__init__()
                self.a, self.b, self.flag = nn.Linear(d, d), nn.Linear(d, e), flag

            def forward(self, x):
                B, T, _ = x.shape
                if self.flag:
                    y = self.a(x)
                else:
                    y = self.b(x)
                return y.transpose(0, 1)  #: (T, B, ?)
        """,
        "Either",
    )


def test_an_optional_mask_does_not_lose_the_scores() -> None:
    check(
        """
        import torch

        def attend(q, k, mask=None):
            B, T, d = q.shape
            scores = torch.bmm(q, k.transpose(1, 2))
            if mask is not None:
                scores = scores.masked_fill(mask == 0, -1e9)
            return scores.softmax(-1)  #: (B, T, ?)
        """,
        "attend",
    )


def test_a_part_of_an_unknown_shape_goes_through_a_view() -> None:
    check(
        """
        import torch

        def heads(x, n_heads):
            x = torch.nn.functional.relu(x)
            x = x.view(*x.shape[:-1], n_heads, -1)
            return x[..., 0, :].unsqueeze(-1).squeeze(-1).shape

        def use(x):
            return torch.zeros(3, 4, 6).view(*torch.zeros(3, 4, 6).shape[:-1], 2, 3)  #: (3, 4, 2, 3)
        """,
        "use",
    )


def test_a_module_list_is_walked() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Stack(nn.Module):
            def __init__(self, n_layers, d, d_out):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(n_layers)])
                self.head = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d_out))

            def forward(self, x):
                B, T, C = x.shape
                for layer in self.layers:
                    x = x + layer(x)
                return self.head(x)  #: (B, T, d_out)
        """,
        "Stack",
    )


def test_a_config_gives_one_symbol_for_each_attribute() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Block(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.up = nn.Linear(config.n_embd, 4 * config.n_embd)
                self.down = nn.Linear(4 * config.n_embd, config.n_embd)

            def forward(self, x):
                B, T, C = x.size()
                h = self.up(x)  #: (B, T, 4*n_embd)
                return self.down(h)  #: (B, T, n_embd)
        """,
        "Block",
    )


def test_a_call_with_too_many_arguments_is_unknown_and_nothing_else() -> None:
    trace = run("import torch\nx = torch.zeros(2, 3)\ny = x.transpose(0, 1, 2, 3)\n")
    assert not any(event.problems for event in trace.events)


@pytest.mark.parametrize("depth", [50])
def test_loops_in_each_other_end(depth: int) -> None:
    lines = ["import torch", "x = torch.zeros(2)"]
    lines += ["    " * i + f"for i{i} in range(n):" for i in range(depth)]
    lines += ["    " * depth + "x = x + 1"]
    trace = run("\n".join(lines) + "\n")
    assert len(trace.events) < 200


def test_recursion_ends() -> None:
    trace = run("import torch\ndef f(x):\n    return f(x + 1)\ny = f(torch.zeros(3))\n")
    assert len(trace.events) < 50


def test_every_kind_of_score_that_the_program_asks_for_is_walked() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Score(nn.Module):
            def __init__(self, d_s, d_h, kind="dot"):
                super().__init__()
                self.kind = kind
                if kind == "general":
                    self.W = nn.Linear(d_h, d_s)
                elif kind == "concat":
                    self.W = nn.Linear(d_s + d_h, 1)

            def forward(self, state, memory):
                B, T, _ = memory.shape
                if self.kind == "general":
                    return torch.bmm(self.W(memory), state.unsqueeze(2))
                if self.kind == "concat":
                    rows = state.unsqueeze(1).expand(B, T, state.size(1))
                    return self.W(torch.cat((rows, memory), dim=-1))
                return torch.bmm(memory, state.unsqueeze(2))
        """
    ops = {e.short for e in run(program).events}
    assert {"bmm", "cat", "Linear.forward"} <= ops


def test_a_broadcast_of_nothing_is_unknown() -> None:
    trace = run("import torch\nparts = torch.broadcast_tensors(*[])\n")
    assert not any(event.problems for event in trace.events)


def test_a_range_to_infinity_has_no_known_length() -> None:
    trace = run("import numpy as np\nx = np.arange(0, np.inf)\n")
    assert not any(event.problems for event in trace.events)


def test_the_width_of_a_module_says_along_which_axis_its_input_was_joined() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Step(nn.Module):
            def __init__(self, vocab, width, hidden):
                super().__init__()
                self.embed = nn.Embedding(vocab, width)
                self.mix = nn.Linear(width + hidden, hidden)

            def forward(self, token, state):
                joined = torch.cat((self.embed(token), state[0]), 1)
                mixed = self.mix(joined)  #: (?, hidden)
                return joined, mixed
        """,
        "Step",
    )


def test_a_function_is_walked_with_the_module_that_it_is_named_after() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Decoder(nn.Module):
            def __init__(self, vocab, dim):
                super().__init__()
                self.emb = nn.Embedding(vocab, dim)
                self.cell = nn.GRUCell(dim, dim)

            def forward(self, token, state):
                return self.cell(self.emb(token), state)

        def decode(decoder, state):
            B, d = state.shape
            token = torch.zeros(B, dtype=torch.long)
            for _ in range(9):
                state = decoder(token, state)
            return state.tanh()  #: (B, dim)
        """,
        "decode",
    )


def test_a_name_in_a_comment_is_the_size_that_the_constructor_was_given() -> None:
    trace = run(
        """
        import torch.nn as nn

        class Map(nn.Module):
            def __init__(self, d_s, d_h):
                super().__init__()
                self.W = nn.Linear(d_s, d_h)

            def forward(self, state, memory):  # state (B, d_s), memory (B, T, d_h)
                return self.W(state).unsqueeze(1) + self.W(memory)
        """
    )
    found = [(p.sizes, p.sameness) for e in trace.events for p in e.problems]
    assert [sizes for sizes, _ in found] == [("d_h", "d_s")]


def test_a_sum_with_a_table_of_positions_has_as_many_axes_as_the_words_and_one() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Encoder(nn.Module):
            def __init__(self, vocab, width):
                super().__init__()
                self.words = nn.Embedding(vocab, width)
                self.places = torch.zeros(1, 50, width)

            def forward(self, tokens):
                mask = (tokens != 0).unsqueeze(1)  #: (B, 1, T)
                x = self.words(tokens) + self.places[:, : tokens.size(1)]
                B, T, d = x.shape
                return x.sum(dim=1), mask
        """,
        "Encoder",
    )


def test_a_call_that_python_refuses_is_not_followed() -> None:
    check(
        """
        import torch
        import torch.nn as nn

        class Plain(nn.Module):
            def forward(self, x, mask=None):
                return x + 1

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = Plain()

            def forward(self, x, positions, mask):
                B, T, d = x.shape
                a = self.layer(x, mask=mask)
                a = a * 2  #: (B, T, d)
                b = self.layer(x, positions, mask=mask)
                b = b * 2  #: nothing
                c = self.layer(x, positions, mask)
                c = c * 2  #: nothing
                return a, b, c
        """,
        "Model",
    )


def test_numpy_powers_have_the_shape_of_both() -> None:
    check(
        """
        import numpy as np

        def loudness(x):
            T, n = x.shape
            y = np.power(10.0, x * 0.05)  #: (T, n)
            z = np.power(x[:, :1], x)  #: (T, n)
            return np.prod(z, axis=0)  #: (n,)
        """,
        "loudness",
    )
