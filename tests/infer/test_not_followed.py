"""What cannot be known is not taken for something: numbers in lists, buffers, old masks, axes that others named."""

from __future__ import annotations

from tests.infer.revealed import check, run


def problems(program: str) -> list[tuple[int, str]]:
    return sorted({(e.span.line, p.kind) for e in run(program).events for p in e.problems})


def test_two_elements_of_a_list_that_is_counted_are_two_numbers() -> None:
    check(
        """
        import torch

        class Parts(torch.nn.Module):
            def __init__(self, width):
                super().__init__()
                self.width = width

            def forward(self, x):
                B, T, d = x.shape
                ends = [self.width * i for i in range(6)]
                same = [self.width for _ in range(6)]
                x[:, :, ends[0]:ends[1]]  #: (B, T, width*? - width*?)
                x.view(B, T, -1, same[3])  #: (B, T, d//width, width)
        """,
        "Parts",
    )


def test_parts_of_a_join_that_disagree_say_nothing_of_a_third() -> None:
    program = """
        import torch

        def joined(x, table):
            B, T, S, d = table.shape
            flat = torch.zeros(B, T, d)
            both = torch.cat((x.unsqueeze(-1), flat, table), dim=2)
            return x.permute(0, 1)
        """
    assert problems(program) == [(7, "mismatched-join")]


def test_a_tensor_in_a_list_of_numbers_is_a_number() -> None:
    check(
        """
        import torch

        def best(scores, more: int):
            values, places = torch.topk(scores, more)
            for i in range(more):
                torch.tensor([places[i]])  #: (1,)
        """,
        "best",
    )


def test_bytes_choose_as_truth_values_do_or_as_numbers() -> None:
    check(
        """
        import torch

        def chosen(x, taken):
            B, T, d = x.shape
            mask = taken.view(B, T, 1).expand(-1, -1, d).byte()
            x[mask]  #: ?
            x[mask.bool()]  #: (?,)
        """,
        "chosen",
    )


def test_axes_before_those_exchanged_stay() -> None:
    check(
        """
        import torch
        from elsewhere import read

        rows = torch.FloatTensor(read()).unsqueeze(0)
        torch.nn.Conv1d(8, 7, 3)(rows.transpose(1, 2))  #: (1, 7, ? - 2)
        """,
        "",
    )


def test_one_row_of_unknown_rank_is_a_batch_where_it_has_no_single_channel() -> None:
    check(
        """
        import torch.nn as nn

        class Filter(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.conv = nn.Conv1d(channels, channels, 3, padding=1)

            def forward(self, x):
                self.conv(x.unsqueeze(0))  #: (1, channels, ?)
        """,
        "Filter",
    )


def test_an_axis_that_another_function_named_may_be_dropped_by_its_number() -> None:
    program = """
        import torch

        def stretched(x, by):
            B, C, H, W = x.size()
            return x.repeat(1, 1, by, by).view(B, C, H * by, W * by)

        def merged(x, by):
            rows = stretched(x, by).squeeze(1)
            return torch.bmm(rows, rows.transpose(1, 2))
        """
    assert problems(program) == []


BUFFERS = """
        import torch
        import torch.nn as nn

        class Stateful(nn.Module):
            def __init__(self):
                super().__init__()
                self.defaults = {{}}

            def keep(self, name, value):
                self.defaults[name] = value
                self.register_buffer(name, value)

            def start(self, batch):
                for name in self.defaults:
                    self._buffers[{name}] = self.defaults[name].unsqueeze(0).expand(batch, -1, -1, -1)

        class Running(Stateful):
            def __init__(self):
                super().__init__()
                self.keep("seen", torch.zeros(1, 1, 0))

            def forward(self, mask):
                B, H, T, S = mask.shape
                return torch.cat((self.seen, mask), -1)
        """


def test_a_buffer_that_a_method_writes_under_a_name_it_works_out_is_not_known() -> None:
    assert problems(BUFFERS.format(name="name")) == []
    assert [kind for _, kind in problems(BUFFERS.format(name="'other'"))] == ["mismatched-join"]


def test_an_array_is_no_torch_tensor() -> None:
    program = """
        import numpy as np
        import torch

        def scores(query, key):
            if not isinstance(query, torch.Tensor):
                query = torch.from_numpy(query)
            if not isinstance(key, torch.Tensor):
                key = torch.from_numpy(key)
            return query @ key.transpose(-2, -1)

        scores(np.random.rand(4, 7), np.random.rand(4, 7))
        scores(torch.rand(4, 7), torch.rand(4, 7))
        """
    assert problems(program) == []


def test_sizes_of_what_is_not_known_are_the_same_wherever_they_are_used() -> None:
    check(
        """
        import torch.nn as nn
        from elsewhere import prepared

        class Mixed(nn.Module):
            def __init__(self, d, heads):
                super().__init__()
                self.heads, self.both = heads, nn.Linear(d, 2 * d)

            def forward(self, words):
                x = prepared(words.float())
                B, T, d = x.size()
                q, k = self.both(x).chunk(2, -1)
                q = q.reshape(B, T, self.heads, -1)
                k = k.reshape(B, T, self.heads, -1)
                q.transpose(1, 2) @ k.permute(0, 2, 3, 1)  #: (B, heads, T, T)
        """,
        "Mixed",
    )


def test_a_batch_that_driver_code_does_not_tell_may_be_one() -> None:
    program = """
        import torch
        from elsewhere import read

        def attend(words, mask, heads):
            B, T, d = words.shape
            rows = words.view(B, T, heads, d // heads).transpose(1, 2).reshape(B * heads, T, -1)
            return (rows @ rows.transpose(1, 2)).masked_fill(mask.repeat(heads, 1, 1), 0)

        attend(torch.randn(*read()), torch.zeros(1, 6, 6).bool(), 4)
        """
    assert problems(program) == []


def test_a_parameter_of_a_constructor_that_nobody_counts_with_may_be_a_list_of_places() -> None:
    check(
        """
        import torch.nn as nn

        class Chosen(nn.Module):
            def __init__(self, kept, last):
                super().__init__()
                self.kept, self.last, self.table = kept, last, nn.Embedding(last, 3)

            def forward(self, x):
                B, C, H, W = x.shape
                x[:, self.kept]  #: ?
                x[:, self.last]  #: (B, H, W)
        """,
        "Chosen",
    )


def test_a_parameter_that_is_counted_with_is_a_number_beside_a_tensor_too() -> None:
    check(
        """
        import torch

        def waves(steps, width):
            table = torch.zeros(steps, width)
            rates = torch.exp(-torch.arange(0, width).float() / width)  #: (width,)
            return table * rates
        """,
        "waves",
    )


def test_a_size_that_numbers_make_one_is_stretched() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Pooled(nn.Module):
            def __init__(self, side, channels):
                super().__init__()
                self.whole = nn.Conv2d(channels, channels, kernel_size=side // {part})

            def forward(self, x):
                return x + self.whole(x)

        Pooled(8, 3)(torch.randn(2, 3, 8, 8))
        """
    assert problems(program.format(part=1)) == []
    assert problems(program.format(part=2)) != []


def test_the_quotients_of_a_file_s_settings_hold_in_all_that_it_defines() -> None:
    program = """
        import torch
        import torch.nn as nn

        width, heads = 96, 8
        each = width // heads

        class Merged(nn.Module):
            def __init__(self):
                super().__init__()
                self.mix = nn.Parameter(torch.empty({sizes}))
                self.parts = nn.ModuleList([nn.Linear(width, each) for _ in range(heads)])

            def forward(self, x):
                B, T, _ = x.shape
                head = x.view(B, T, heads * each)
                return head @ self.mix
        """
    assert problems(program.format(sizes="width, each * heads")) == []
    assert [kind for _, kind in problems(program.format(sizes="each, width"))] == ["mismatched-product"]
