"""Loops over the modules of a list: another round only where it would see something new."""

from __future__ import annotations

from textwrap import dedent

import pytest

from shapedoc.infer import analyse
from shapedoc.source import lower_ast
from tests.rules.expectations import found

MODEL = """\
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear({built}) for _ in range(depth)])

    def forward(self, x):
        {before}
        for {target} in {over}:
            {body}
        return x
"""


def rounds(
    body: str, *, built: str = "d, d", target: str = "f", over: str = "self.layers", before: str = "n = 0"
) -> int:
    """How often the body of the loop is walked."""
    text = dedent(MODEL).format(body=body, built=built, target=target, over=over, before=before)
    trace = analyse(lower_ast.lower(text), text, "a.py")
    calls = [e for e in trace.events if e.short == "Linear.forward"]
    return len({e.loops for e in calls})


def test_a_stack_that_keeps_the_shape_is_walked_once() -> None:
    assert rounds("x = x + torch.relu(f(x))") == 1
    assert rounds("x = f(x)", target="i, f", over="enumerate(self.layers)") == 1


@pytest.mark.parametrize(
    "body",
    [
        "x = torch.cat([x, f(x)], dim=-1)",  # another size
        "x = f(x).unsqueeze(0)",  # another rank
        "x, n = f(x), n + 1",  # a number that counts
        "x = self.last = f(x)",  # an attribute
    ],
)
def test_a_stack_that_changes_something_is_walked_again(body: str) -> None:
    assert rounds(body) == 2


def test_a_loop_over_time_is_walked_twice() -> None:
    assert rounds("x = self.layers[0](x)", target="_", over="range(n)", before="n = x.size(0)") == 2


def test_a_list_that_one_round_of_a_loop_deep_inside_others_fills_is_as_long_as_the_loop() -> None:
    program = """
        import torch
        import torch.nn as nn

        class Bank(nn.Module):
            def __init__(self, count, width):
                super().__init__()
                self.parts = nn.ModuleList([nn.Linear(width, width) for _ in range(count)])
                self.out = nn.Linear(count * width, width)

            def forward(self, x):
                found = []
                for part in self.parts:
                    found.append(part(x))
                return self.out(torch.cat(found, dim=-1))

        def train(epochs, batches):
            bank = Bank(4, 6)
            for _ in range(epochs):
                for batch in batches:
                    for _ in range(3):
                        bank(torch.zeros(3, 6))
        """
    assert found(dedent(program), "SD1") == []
