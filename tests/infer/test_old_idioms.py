"""Idioms of older code: modules by name, states that a parameter makes, lists that a loop fills."""

from __future__ import annotations

from tests.infer.revealed import check, run


def problems(program: str) -> list[tuple[int, str]]:
    return sorted({(e.span.line, p.kind) for e in run(program).events for p in e.problems})


def test_a_recurrent_module_by_name_is_one_of_two() -> None:
    check(
        """
        import torch.nn as nn

        class Reader(nn.Module):
            def __init__(self, options, width, hidden):
                super().__init__()
                self.read = getattr(nn, options["rnn_type"])(width, hidden, bidirectional=True, batch_first=True)
                self.state = getattr(nn, options["shape"])(width, hidden)

            def forward(self, words):
                B, T, width = words.shape
                seen, state = self.read(words)
                other = self.state(words)
                return seen.tanh()  #: (B, T, 2*hidden)
        """,
        "Reader",
    )


def test_a_state_that_is_made_like_a_parameter() -> None:
    check(
        """
        import torch.nn as nn

        class Reader(nn.Module):
            def __init__(self, layers, hidden):
                super().__init__()
                self.layers, self.hidden = layers, hidden
                self.out = nn.Linear(hidden, hidden)

            def begin(self, size):
                weight = next(self.parameters()).data
                return weight.new(self.layers, size, self.hidden).zero_()  #: (layers, size, hidden)
        """,
        "Reader.begin",
    )


def test_a_branch_that_uses_a_name_before_it_is_set_is_not_taken_first() -> None:
    program = """
        import torch

        def sample(first, steps):
            B, = first.shape
            word, words = first, []
            for t in range(steps):
                if t >= 1:
                    if t == 1:
                        alive = word > 0
                    else:
                        alive = alive * (word > 0)
                    word = word * alive.type_as(word)
                words.append(word)
            return torch.cat(words, 1)
        """
    assert problems(program) == [(15, "axis-out-of-range")]


def test_what_one_module_gives_has_no_rows_that_two_names_take() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Writer(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.model = nn.Transformer(width, batch_first=True)

            def forward(self, source, target):
                B, T, width = target.shape
                seen, past = self.model(source, target)
                return torch.cat([target, seen], dim=1)
        """
    assert problems(program) == [(12, "wrong-rank")]


def test_the_other_value_of_a_flag_of_any_method_is_walked() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Writer(nn.Module):
            def forward(self, x):
                return x

            def sample(self, x, track=False):
                B, D = x.shape
                if not track:
                    return x
                return torch.cat([torch.zeros(B), torch.zeros(B)], 1)

        def sample(x, track=False):
            B, D = x.shape
            if track:
                return torch.cat([torch.zeros(B), torch.zeros(B)], 1)
            return x
        """
    assert [line for line, _ in problems(program)] == [13, 18]
