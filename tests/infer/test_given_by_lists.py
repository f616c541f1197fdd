"""What comes of lists of unknown length, of progress bars, and of strings."""

from __future__ import annotations

from tests.infer.revealed import check, run


def test_a_list_of_numbers_is_averaged_to_one() -> None:
    check(
        """
        import numpy as np

        def summary(steps, clock):
            times = []
            for step in range(steps):
                if step > 2:
                    times.append(clock() - 1.0)
            mean = np.mean(times)  #: ()
            most = np.max([len(step) for step in clock])  #: ()
            rows = np.std([[1.0, 2.0] for _ in clock], axis=0)  #: (?,)
            return mean, most, rows
        """,
        "summary",
    )


def test_what_a_progress_bar_is_shown_of_is_looped_over() -> None:
    check(
        """
        import torch
        from tqdm import tqdm

        def total():
            kept = []
            for batch in tqdm([torch.zeros(2, 3), torch.ones(2, 3)], desc="reading"):
                kept.append(batch * 2)  #: (2, 3)
            return kept
        """,
        "total",
    )


def test_a_string_that_is_split_is_no_tensor() -> None:
    trace = run(
        """
        import torch

        def read(line, options, x):
            first, second = line.split(" ")
            words = line.split()
            x = x.to("cuda")
            x.append(first)
            name = options.data.get("name")
            return torch.zeros(2, 3), first, second, words, name
        """
    )
    assert not any(event.lost for event in trace.events)


def test_a_variable_that_a_branch_uses_before_any_sets_it_is_joined() -> None:
    trace = run(
        """
        import torch

        def read(flag, data):
            while True:
                line = next(data).split()[1]
                if flag != 1:
                    line = line[0::flag]
                    if past:
                        past = past[0::flag]
                line = torch.from_numpy(line)
                past = torch.from_numpy(past) if data else None
        """
    )
    assert trace.entries[-1][0] == "read"
