"""Idioms of public code that must not be taken for what they are not."""

from __future__ import annotations

from textwrap import dedent

from tests.infer.revealed import check, run
from tests.rules.expectations import found


def problems(program: str) -> list[tuple[int, str]]:
    """What is held against the code; what is held against a statement alone is left out."""
    found = {(e.span.line, p.kind) for e in run(program).events for p in e.problems}
    return sorted(f for f in found if f[1] != "stated-rank")


def codes(program: str) -> list[str]:
    return [f.code for f in found(dedent(program), "SD401")]


def test_what_changes_in_place_keeps_its_shape() -> None:
    check(
        """
        import torch

        def scores(key, query, lengths):
            energy = torch.bmm(key, query.unsqueeze(2)).squeeze(2)
            mask = torch.arange(7).unsqueeze(0) >= lengths.unsqueeze(1)
            energy.masked_fill_(mask, -1e9)  #: (?, ?)
            return energy
        """,
        "scores",
    )


def test_an_attribute_that_another_method_replaces_is_not_what_the_constructor_set() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Positions(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = torch.zeros(1, 1, 3)

            def forward(self, x):
                self.table = torch.zeros(x.size(1), x.size(1), 3)
                return self.table

            def distances(self):
                return self.table.squeeze()[:, :, -1]
        """
    assert problems(program) == []


def test_a_none_that_a_method_sets_is_not_always_none() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Decoder(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.memory = None
                self.proj = nn.Linear(d, d)

            def reset(self, memory):
                self.memory = memory

            def forward(self, x):
                if self.memory is not None:
                    x = self.proj(x)  #: (..., d)
                return x
        """
    assert any(e.op == "torch.nn.Linear.forward" for e in run(program).events)


def test_a_rank_that_only_a_comment_states_is_no_evidence_against_the_code() -> None:
    program = """
        import torch

        def attend(query, key):
            # query, key: (batch, time, d)
            return query @ key.transpose(-2, -1)

        def heads(key):
            # key: (batch, time, d)
            return key.permute(0, 1, 3, 2)

        def image(x):  # x (B, C, H, W)
            B, N, C = x.shape
            return x
        """
    assert problems(program) == []


def test_what_a_lost_call_gives_is_not_unpacked_into_rows() -> None:
    program = """
        import torch
        from torch.nn.utils.rnn import pad_packed_sequence, pack_padded_sequence

        def halve(packed):
            x, lengths = pad_packed_sequence(packed, batch_first=True)
            B, T, C = x.shape
            x = x.view(B, T // 2, C * 2)
            return pack_padded_sequence(x, lengths // 2, batch_first=True)
        """
    assert problems(program) == []


def test_an_odd_kernel_padded_by_half_of_it_does_not_grow_the_image() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Embed(nn.Module):
            def __init__(self, dim, kernel_size=3):
                super().__init__()
                self.conv = nn.Conv2d(dim, dim, kernel_size, padding=kernel_size // 2)

            def forward(self, x):
                b, c, h, w = x.shape
                y = self.conv(x)
                return torch.cat([y, x], dim=1) + torch.cat([x, y], dim=1)
        """
    assert problems(program) == []


def test_a_throwaway_name_names_no_size() -> None:
    program = """
        import torch

        def add_bias(mask):
            n, w, _ = mask.size()
            return mask.reshape(1, n, 1, w, w)
        """
    assert problems(program) == []


def test_a_size_that_defaults_to_zero_is_not_zero() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Attention(nn.Module):
            def __init__(self, dim, num_heads=0):
                super().__init__()
                self.num_heads = num_heads
                self.qkv = nn.Linear(dim, 3 * dim)

            def forward(self, x):
                B, N, C = x.shape
                return self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads)
        """
    assert problems(program) == []


def test_the_last_axis_may_be_one_that_is_counted_from_the_front() -> None:
    program = """
        import torch

        def split_last(x, n):
            x = x.transpose(1, 2)
            sizes = list(x.size())
            x = x.view(sizes[:-1] + [n] + [sizes[-1] // n])
            return x.permute(0, 2, 1, 3)
        """
    assert problems(program) == []


def test_what_a_branch_learnt_of_its_values_is_kept_where_branches_meet() -> None:
    check(
        """
        import torch

        def step(x, cache=None):
            B, T, d = x.shape
            if cache is not None:
                x = torch.cat((cache, x), dim=1)
            return x.transpose(0, 2)  #: (d, ?, B)
        """,
        "step",
    )


def test_weights_that_a_learned_map_gives_to_places_are_summed_with_places() -> None:
    program = """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F

        class Decoder(nn.Module):
            def __init__(self, d, max_length):
                super().__init__()
                self.attn = nn.Linear(2 * d, max_length)
                self.rnn = nn.GRU(d, d, batch_first=True)

            def forward(self, state, embedded, frames):
                memory, _ = self.rnn(frames)
                weights = F.softmax(self.attn(torch.cat((embedded, state), dim=1)), dim=1)
                return torch.bmm(weights.unsqueeze(1), memory)
        """
    assert problems(program) == []


def test_a_shape_passed_on_by_a_value_that_is_not_followed_has_no_axes_counted() -> None:
    program = """
        import torch

        class Attention(torch.nn.Module):
            def __init__(self, heads, size):
                super().__init__()
                self.heads, self.size = heads, size

            def split(self, x):
                shape = x.size()[:-1] + (self.heads, self.size)
                return x.view(*shape).permute(0, 2, 1, 3)

            def forward(self, states, layer):
                return self.split(layer(states))
        """
    assert problems(program) == []


def test_a_list_in_a_list_grows() -> None:
    program = """
        import torch

        def zigzag(x, rows, cols):
            diagonals = [[] for _ in range(rows + cols - 1)]
            for i in range(rows):
                for j in range(cols):
                    diagonals[i + j].append(i * cols + j)
            order = []
            for d in diagonals:
                order.extend(d)
            return x[:, order] + torch.zeros(3, 64)
        """
    assert problems(program) == []


def test_a_shape_may_come_as_a_parameter() -> None:
    program = """
        import torch

        def positions(shape):
            mask = ~torch.zeros(shape).bool()
            return mask.cumsum(1), mask.cumsum(2)
        """
    assert problems(program) == []


def test_a_rank_that_one_branch_has_is_no_evidence_where_another_says_nothing() -> None:
    program = """
        import torch

        def load(weights, transpose):
            if weights.ndim == 4 and weights.shape[0] == 1:
                weights = weights.flatten()
            else:
                weights = transpose(weights)
            weights = torch.from_numpy(weights)
            return weights.flatten(1)
        """
    assert problems(program) == []


def test_torch_asserts_too() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Block(nn.Module):
            def __init__(self, resolution):
                super().__init__()
                self.resolution = resolution

            def forward(self, x):
                B, C, H, W = x.shape
                torch._assert(W == self.resolution, "another size")
                return x + torch.zeros(B, C, H, self.resolution)
        """
    assert problems(program) == []


def test_a_list_of_layers_that_is_passed_on_is_not_empty() -> None:
    program = """
        import torch
        import torch.nn as nn

        def mlp(sizes):
            layers = []
            for d_in, d_out in zip(sizes[:-1], sizes[1:]):
                layers.append(nn.Linear(d_in, d_out))
            return nn.Sequential(*layers)

        class Head(nn.Module):
            def __init__(self, d, sizes):
                super().__init__()
                self.norm = nn.LayerNorm(2 * d)
                self.net = mlp(sizes)
                self.out = nn.Linear(d, d)

            def forward(self, x):
                return self.out(self.net(self.norm(x)))

        def collate(batch):
            images, lengths = zip(*batch)
            return torch.stack(images), max(*lengths)
        """
    assert problems(program) == []


def test_one_size_that_is_not_followed_is_one_size() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Translator(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.transformer = nn.Transformer(d)

            def forward(self, load):
                source = load()
                length = source.size(0)
                mask = torch.zeros((length, length))
                return self.transformer(source, source, src_mask=mask)
        """
    assert problems(program) == []


def test_a_state_that_is_a_tuple_or_not() -> None:
    program = """
        import torch

        def join_directions(state):
            if isinstance(state, tuple):
                return tuple(torch.cat([h[0::2], h[1::2]], 2) for h in state)
            return torch.cat([state[0::2], state[1::2]], 2)
        """
    assert problems(program) == []


def test_a_number_that_stands_for_another_is_no_size() -> None:
    program = """
        import torch

        def infer(memory, beam_width=-1, max_length=-1):
            scores = torch.zeros((memory.size(0), beam_width))
            return scores.view(memory.size(0) * beam_width)
        """
    assert problems(program) == []


def test_nothing_is_said_of_what_is_empty() -> None:
    program = """
        import torch

        def decode(inputs):
            steps = []
            for i in range(inputs.size(1)):
                past = inputs[:, :i]
                steps.append(past.reshape(inputs.size(0) * past.size(1)))
                past = past + torch.zeros(inputs.size(0), 64)
            return steps
        """
    assert problems(program) == []


def test_what_comes_of_a_stated_rank_is_no_evidence_against_the_code_either() -> None:
    program = """
        import torch

        def non_pad_mask(padded, lengths):
            # padded: (N, T)
            mask = padded.new_ones(padded.size()[:-1])
            for i in range(padded.size(0)):
                mask[i, lengths[i]:] = 0
            return mask
        """
    assert problems(program) == []


def test_what_shows_without_a_statement_counts_beside_one_too() -> None:
    program = """
        import torch

        def attend(query, memory):
            # query: (batch_size, d)
            scores = torch.bmm(memory, query.unsqueeze(2)).squeeze(2)
            weights = scores.softmax(dim=-1)
            return torch.bmm(weights, memory)
        """
    assert problems(program) == problems(program.replace("query: (batch_size, d)", "")) == [(8, "wrong-rank")]


def test_what_a_batch_is_unpacked_into_has_no_shape_in_common() -> None:
    program = """
        import torch
        import torch.nn as nn

        def train(model, batches):
            loss = nn.CrossEntropyLoss()
            for batch in batches:
                tokens, places, label = map(torch.LongTensor, zip(*batch))
                B, T = tokens.shape
                scores = torch.zeros(B, 2)
                loss(scores, label)
                ids, mask, target = [t.to("cuda") for t in batch]
                B, T = ids.shape
                loss(torch.zeros(B, 2), target)
        """
    assert problems(program) == []


def test_what_a_file_that_is_not_read_sets_is_a_size() -> None:
    check(
        """
        import torch
        import torch.nn as nn
        from project import config
        from project.settings import D_OUT

        class Step(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.GRU(config.d_embed // 2, config.d_state, batch_first=True)
                self.out = nn.Linear(2 * config.d_state, D_OUT)

            def forward(self, token):
                batch, width = token.shape
                states, _ = self.rnn(token.unsqueeze(1))
                scores = self.out(torch.cat((states, states), dim=-1))  #: (batch, 1, D_OUT)
                return scores
        """,
        "Step",
    )


def test_what_is_called_of_a_file_that_is_not_read_stays_a_function() -> None:
    program = """
        import torch
        from project import tools

        class Kind(tools.Base):
            def forward(self, x):
                return tools.masked(x.unsqueeze(0), tools.limit)
        """
    assert [e.op for e in run(program).events] == ["torch.Tensor.unsqueeze", "project.tools.masked"]


def test_two_settings_that_differ_in_name_may_be_equal() -> None:
    program = """
        import torch.nn as nn
        from project import config

        class Pair(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.one = nn.Linear(width, config.d_embed)
                self.two = nn.Linear(config.d_state, width)

            def forward(self, x):
                return self.one(self.two(self.one(x)))
        """
    assert all(p.sameness is not None and not p.sameness.wrong for e in run(program).events for p in e.problems)


def test_a_size_that_has_another_for_its_default_is_a_size_of_its_own() -> None:
    check(
        """
        import torch.nn as nn

        class Map(nn.Module):
            def __init__(self, d_query, d_key=None, d_value=None):
                super().__init__()
                self.d_key = d_key or d_query
                if d_value is None:
                    d_value = d_query
                self.key = nn.Linear(d_query, self.d_key)
                self.value = nn.Linear(d_query, d_value)

            def forward(self, x):
                B, T, C = x.shape
                k = self.key(x)  #: (B, T, d_key)
                return self.value(x)  #: (B, T, d_value)
        """,
        "Map",
    )


def test_a_layer_that_is_given_or_not_leaves_what_is_known_without_it() -> None:
    program = """
        import torch
        import torch.nn.functional as F

        def attend(query, key, value, dropout=None):
            scores = torch.matmul(query, key.transpose(-2, -1)) / key.size(-1) ** 0.5
            weights = F.softmax(scores, dim=%d)
            if dropout is not None:
                weights = dropout(weights)
            return torch.matmul(weights, value)
        """
    assert codes(program % -1) == []
    assert codes(program % -2) == ["SD401"]


def test_a_sequence_module_takes_a_batch() -> None:
    check(
        """
        import torch.nn as nn

        class Reader(nn.Module):
            def __init__(self, words, d):
                super().__init__()
                self.embed = nn.Embedding(words, d)
                self.rnn = nn.GRU(d, d)

            def forward(self, words, hidden):
                output, hidden = self.rnn(self.embed(words), hidden)  #: [(?, ?, d), (1, ?, d)]
                return output
        """,
        "Reader",
    )
