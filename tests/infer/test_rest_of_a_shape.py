"""``B, *rest = x.shape`` of a tensor of unknown rank, and what a part of a shape is good for."""

from __future__ import annotations

from tests.infer.revealed import check


def test_sizes_at_the_ends_are_known() -> None:
    check(
        """
        def split(x, heads):
            batch_size, *rest, d_model = x.shape
            y = x.reshape(batch_size, *rest, heads, d_model // heads)  #: (batch_size, *x, heads, d_model//heads)
            return y
        """,
        "split",
    )


def test_what_lies_between_goes_through() -> None:
    check(
        """
        def flat(x):
            batch_size, *lead, T, d = x.size()
            return x.view(batch_size, *lead, T * d)  #: (batch_size, *x, T*d)
        """,
        "flat",
    )


def test_nothing_is_known_of_how_many_there_are() -> None:
    check(
        """
        def last(x):
            batch_size, *rest = x.shape
            if len(rest) == 1:
                return x.unsqueeze(1)
            return x.sum(2)


        def use(memory):
            return last(memory).tanh()  #: ?
        """,
        "use",
    )


def test_one_of_them_is_known_from_the_end_that_is() -> None:
    check(
        """
        import torch


        def first(x):
            batch_size, *rest = x.shape
            batch_size, T, d = x.shape
            batch_size, *rest = x.shape
            return torch.zeros(rest[0], rest[-1])  #: (T, d)
        """,
        "first",
    )


def test_the_first_may_be_among_those_that_are_known_from_the_end() -> None:
    check(
        """
        def scaled(x, scale):
            y = x[None, :, :, :, :] * scale[:, None, :, None, None]
            _, _, *rest = y.shape
            return y.reshape(6, *rest)  #: (6, ...)
        """,
        "scaled",
    )


def test_a_part_of_a_shape_goes_through_functions_too() -> None:
    check(
        """
        import torch


        def start(x, width):
            state = torch.zeros(x.shape[:-1] + (width,))
            return state.permute(1, 0, 2)  #: (?, ?, width)
        """,
        "start",
    )


def test_heads_of_a_part_of_a_shape_say_the_rank() -> None:
    check(
        """
        import torch


        def heads(x, n_heads, d_head):
            h = torch.reshape(x, x.size()[:-1] + (n_heads, d_head))
            return h.permute(0, 2, 1, 3)  #: (?, n_heads, ?, d_head)
        """,
        "heads",
    )
