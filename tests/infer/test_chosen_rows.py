"""Rows that are chosen by a tensor of which it is not known whether it holds numbers or truth values."""

from __future__ import annotations

from tests.infer.revealed import check


def test_a_row_of_indices_takes_some_elements_be_it_numbers_or_truth_values() -> None:
    check(
        """
        import torch

        def taken(rows, chosen):
            n, d = rows.shape
            k, = chosen.shape
            best = rows[chosen]  #: (?, d)
            return best
        """,
        "taken",
    )
